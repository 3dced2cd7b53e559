"""How is a file written whole or not at all?"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import tempfile
import typing
from collections.abc import Iterator


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
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write a file all at once; the path of the file."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path
