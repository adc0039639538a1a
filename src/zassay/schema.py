"""YAML files, checked once at the edge: unknown keys, wrong types and YAML's own traps become one clear Problem."""

from __future__ import annotations

import difflib
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from zassay.errors import Problem

SCHEMAS = Path(__file__).resolve().parents[2] / "workflows" / "schemas"


class _Loader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice (plain YAML keeps the last one silently)."""


def _trap(key: object) -> str:
    kind = {bool: "boolean", int: "number", float: "number"}.get(type(key), "value")
    return f"is the {kind} {str(key).lower()}"


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            written = key_node.value if isinstance(key_node, yaml.ScalarNode) else key
            raise Problem(f'line {key_node.start_mark.line + 1}: a key {_trap(key)}; write "{written}" in quotes')
        if key in seen:
            raise Problem(f"line {key_node.start_mark.line + 1}: key {key!r} is given twice")
        seen.add(key)
    loader.flatten_mapping(node)
    return dict(loader.construct_pairs(node, deep=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load_yaml(path: Path, schema: str) -> dict[str, Any]:
    """Read and check a YAML file against ``workflows/schemas/<schema>.schema.yaml``."""
    value = read_yaml(path)
    check(value, schema, shown(path))
    return dict(value)


def shown(path: Path) -> str:
    """The path as a person would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def read_yaml(path: Path) -> Any:
    try:
        # A SafeLoader with one stricter constructor: it builds plain values only.
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.YAMLError as error:
        raise Problem(f"{shown(path)}: not YAML: {error}") from error
    except OSError as error:
        raise Problem(f"{shown(path)}: {error.strerror}") from error
    except Problem as problem:
        raise Problem(f"{shown(path)}: {problem.message}", problem.hint) from None


@lru_cache
def validator(schema: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(read_yaml(SCHEMAS / f"{schema}.schema.yaml"))


def check(value: object, schema: str, where: str) -> None:
    """Raise Problem for the most telling violation, if there is one."""
    errors = list(validator(schema).iter_errors(value))
    if errors:
        worst = jsonschema.exceptions.best_match(errors)
        if worst is not None:
            raise Problem(f"{where}: {_where(worst)}{_what(worst)}", _hint(worst))


def _where(error: jsonschema.ValidationError) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    return f"{path} " if path else ""


def _what(error: jsonschema.ValidationError) -> str:
    if isinstance(error.instance, bool) and error.validator in ("type", "anyOf", "oneOf", "enum"):
        word = {True: "on", False: "off"}[error.instance]
        return f'is the boolean {str(error.instance).lower()}; write "{word}" in quotes'
    if error.validator == "additionalProperties":
        return f"has an unknown key: {', '.join(_extra_keys(error))}"
    if error.validator == "uniqueItems" and isinstance(error.instance, list):
        return "says twice: " + ", ".join(sorted({str(each) for each in error.instance if error.instance.count(each) > 1}))
    return str(error.message)


def _schema_of(error: jsonschema.ValidationError) -> dict[str, Any]:
    """The part of the schema that was violated (a schema may also be just true or false)."""
    return dict(error.schema) if isinstance(error.schema, dict) else {}


def _extra_keys(error: jsonschema.ValidationError) -> list[str]:
    known = _schema_of(error).get("properties", {})
    instance: Any = error.instance
    return [str(key) for key in instance if key not in known]


def _hint(error: jsonschema.ValidationError) -> str:
    if error.validator == "additionalProperties":
        known = sorted(_schema_of(error).get("properties", {}))
        near = [n for key in _extra_keys(error) for n in difflib.get_close_matches(key, known, n=1)]
        return f"known keys: {', '.join(known)}" + (f"\n(did you mean {near[0]}?)" if near else "")
    if error.validator == "enum":
        return "legal values: " + ", ".join(map(str, _schema_of(error)["enum"]))
    return str(_schema_of(error).get("description", ""))
