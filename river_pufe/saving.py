"""How is a file written whole or not at all?"""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import typing
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[typing.BinaryIO]:
    """A file that takes the place of another one once all is written, whatever happens until then.

    Raises
    ------
    OSError
        If the file cannot be written; the one that was there stays as it was.

    """
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
