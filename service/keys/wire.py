"""Keys as JSON."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from rafs.messages import unusable
from service.keys.scope import Scope
from service.keys.store import NewKey, StoredKey


def refuse_unprintable(text: str) -> str:
    """Return a text as it is, unless it is blank or has a character that would not be seen."""
    if not text.strip() or not text.isprintable():
        raise unusable("a text that cannot be shown as it is", "visible characters and spaces", "")
    return text


Label = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(refuse_unprintable)]
KeyLimit = Annotated[int, Field(ge=0, le=1_000_000_000)]
DEFAULT_TENANT = "default"


class KeyIn(BaseModel):
    """A key that is asked for."""

    model_config = ConfigDict(extra="forbid")

    name: Label = Field(description="What it is for, such as the program that will hold it.", examples=["checkout"])
    tenant: Label = Field(
        default=DEFAULT_TENANT,
        description="Keys of one tenant share remembered answers and idempotency keys; those of two never do.",
    )
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))] = Field(
        default=[Scope.SCORE], description="What it may be used for; none contains another."
    )
    expires_at: AwareDatetime | None = Field(default=None, description="Null never ends.")
    requests_per_minute: KeyLimit | None = Field(default=None, description="Null is the service's own; 0 is no limit.")
    traces_per_day: KeyLimit | None = Field(default=None, description="Null is the service's own; 0 is no limit.")

    def to_new(self) -> NewKey:
        """Return it as the store takes it."""
        return NewKey(
            name=self.name,
            tenant=self.tenant,
            scopes=frozenset(self.scopes),
            expires_at=self.expires_at,
            requests_per_minute=self.requests_per_minute,
            traces_per_day=self.traces_per_day,
        )


class KeyOut(BaseModel):
    """A key without its secret."""

    id: str = Field(description="The part of the key between `rafs_` and the second underscore; it is no secret.")
    name: str
    tenant: str
    scopes: list[Scope]
    state: Literal["active", "expired", "revoked"]
    requests_per_minute: int | None
    traces_per_day: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, stored: StoredKey) -> "KeyOut":
        """Return what may be shown of a stored key."""
        ended = stored.expires_at is not None and stored.expires_at <= datetime.now(UTC)
        return cls(
            id=stored.id,
            name=stored.name,
            tenant=stored.tenant,
            scopes=sorted(stored.scopes),
            state="revoked" if stored.revoked_at else "expired" if ended else "active",
            requests_per_minute=stored.requests_per_minute,
            traces_per_day=stored.traces_per_day,
            created_at=stored.created_at,
            expires_at=stored.expires_at,
            revoked_at=stored.revoked_at,
        )


class KeyMade(BaseModel):
    """A new key; its text is shown this once."""

    key: str = Field(description="Send it as `authorization: Bearer ...`. It cannot be had again.")
    details: KeyOut


class Keys(BaseModel):
    """The newest keys."""

    keys: list[KeyOut]
