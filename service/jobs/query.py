"""What may stand behind the question mark of the paths of batches."""

from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import Field, ValidationError

from rafs.batch_wire import MAX_URL_CHARS
from rafs.limits import MAX_SEED
from rafs.messages import Name, Wire
from service.request_body import to_request_error

MAX_LISTED = 100
MAX_PAGE = 10_000
MAX_ROW = 1 << 53

Query = TypeVar("Query", bound=Wire)


class UploadQuery(Wire):
    """What holds for the rows of an upload."""

    preset: Name | None = Field(default=None, description="Of rows that name none.")
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED, description="Of rows that name none.")
    generator: Name | None = Field(default=None, description="The model that wrote the traces which name none.")
    full: bool = Field(default=False, description="Keep whole responses, not only their records.")
    webhook_url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)] | None = Field(
        default=None, description="Where the end is told; a secret is made and returned once."
    )


class ListQuery(Wire):
    """Which batches are listed."""

    before: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="`next` of the page before."
    )
    limit: int = Field(default=20, ge=1, le=MAX_LISTED, description="Batches of a page.")


class PageQuery(Wire):
    """Which rows are read."""

    after: int = Field(default=0, ge=0, le=MAX_ROW, description="The row behind which the page begins.")
    limit: int = Field(default=1_000, ge=1, le=MAX_PAGE, description="Rows of a page.")


def read_query(request: Request, model: type[Query]) -> Query:
    """Read the query of a request.

    Raises:
        RequestError: A name is unknown, or a value is not allowed.
    """
    try:
        return model.model_validate_strings(dict(request.query_params))
    except ValidationError as error:
        raise to_request_error(error, model) from None


def parameters_of(model: type[Wire], note: str = "") -> list[dict[str, Any]]:
    """Return the description of a query, for the OpenAPI document."""
    described = []
    for name, schema in model.model_json_schema()["properties"].items():
        kinds = [kind for kind in schema.pop("anyOf", []) if kind != {"type": "null"}]
        about = note + schema.pop("description")
        shape = {key: value for key, value in {**schema, **(kinds[0] if kinds else {})}.items() if key != "title"}
        shape = {key: value for key, value in shape.items() if value is not None}
        described.append({"name": name, "in": "query", "required": False, "description": about, "schema": shape})
    return described
