"""Every error RAFS raises, split by whose fault it is.

RafsError
├── InputError        the caller sent something that cannot be scored         -> 422 (413 when too large)
├── ConfigError       the operator's models.yaml, settings or files are wrong -> refuses to start
├── OverloadedError   nobody's fault: a bounded queue is full                 -> 429 with Retry-After
└── BackendError      a model, server or worker failed                        -> 503 (504 past its deadline)
"""


class RafsError(Exception):
    """Root of the tree. The message says what was wrong, what was got and what is allowed."""


class InputError(RafsError):
    """The caller's input cannot be scored.

    Attributes:
        field: Dotted path of the offending field, such as `trace.steps.3`.
        got: What arrived, shortened and quoted.
        allowed: What would have been accepted.
        too_large: True when only the size is wrong.
    """

    def __init__(self, message: str, *, field: str, got: str, allowed: str, too_large: bool = False) -> None:
        super().__init__(message)
        self.field = field
        self.got = got
        self.allowed = allowed
        self.too_large = too_large


class ConfigError(RafsError):
    """The operator's configuration is wrong; nothing starts until it is mended."""


class OverloadedError(RafsError):
    """A bounded queue is full; the caller should come back later.

    Attributes:
        retry_after_s: Seconds after which a retry has a chance.
    """

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BackendError(RafsError):
    """A model, server or worker failed, so nothing was computed.

    Attributes:
        timed_out: True when it did not fail but ran past its deadline.
    """

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out
