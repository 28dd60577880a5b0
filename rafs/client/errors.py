"""What a client raises: part of the tree in `rafs/errors.py`.

RafsError
├── InputError                what is sent is no text, mapping or message
├── ConfigError               address, key or limits of the client are wrong
├── ProblemError              the service refused or failed, and said why
├── NotAccepted               a gated function wrote an answer that may not be shown
└── BackendError
    ├── UnreachableError      nobody answers, or not in time
    └── ReplyError            what came back is no reply of RAFS
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rafs.errors import BackendError, RafsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with a request."""

    field: str
    """Dotted path of the key, `body` for the whole."""
    got: str
    allowed: str


class ProblemError(RafsError):
    """The service answered with a problem document, or another server on the way with a bare status.

    Attributes:
        status: HTTP status, 300 and above.
        type: Stable name of the kind of problem, such as `/problems/invalid-input`; `about:blank` where there is none.
        title: The kind of problem in words.
        detail: This occurrence of it.
        errors: What is wrong with the request, by field.
        request_id: Names the request in the service's log; None where the service did not answer itself.
        retry_after_s: Seconds after which a retry has a chance, where the service said so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        type: str,
        title: str,
        detail: str,
        errors: Sequence[Fault] = (),
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.title = title
        self.detail = detail
        self.errors = tuple(errors)
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class UnreachableError(BackendError):
    """No reply came from the address.

    Attributes:
        may_repeat: True when asking again may help, as after a broken connection.
    """

    def __init__(self, message: str, *, may_repeat: bool, timed_out: bool = False) -> None:
        super().__init__(message, timed_out=timed_out)
        self.may_repeat = may_repeat


class ReplyError(BackendError):
    """What came back cannot be read, or is too long."""
