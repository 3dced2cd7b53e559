"""How is a file written whole or not at all?"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import pathlib
import tempfile
import time
import typing
from collections.abc import Iterator

#: Seconds after which nobody is still writing a file.
_STALE = 3600.0


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[typing.BinaryIO]:
    """A file that takes the place of another one once all is written, whatever happens until then.

    Where the path is a symbolic link, the file that it leads to is replaced. Anything else that is not
    a regular file, such as a named pipe or a device, is not replaced.

    Raises
    ------
    OSError
        If the file cannot be written; the one that was there stays as it was.

    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        kind = errno.EISDIR if path.is_dir() else errno.EINVAL
        raise OSError(kind, os.strerror(kind) if kind == errno.EISDIR else "it is not a regular file", str(path))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        temporary = pathlib.Path(file.name)
        try:
            yield typing.cast(typing.BinaryIO, file)
            file.flush()
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
            _tidy(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _tidy(path: pathlib.Path) -> None:
    """Remove what processes that were killed while they wrote have left behind."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < time.time() - _STALE:
                left.unlink()


def write(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write a file all at once; the path of the file."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path
