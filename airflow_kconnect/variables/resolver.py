"""Kafka Connect's config providers: variables such as `${file:/run/secrets/db:password}` become values.

A run resolves its configurations once, when it starts; later changes take effect with the next run.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow_kconnect.connect.config import coerce, java_trim
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.variables.hidden_values import HiddenValues
from airflow_kconnect.variables.providers import (
    CLASSES,
    DEFAULTS,
    IN_TASKS,
    MAX_BYTES,
    Provider,
    ProviderProblem,
    TaskConfigProvider,
    printable,
)
from airflow_kconnect.variables.syntax import Variable, has_reference, variables_in

OWN_PROVIDER = "kconnect"
"""The alias under which the Connect worker of a hosted connector finds what was resolved here."""

_PROVIDERS = "config.providers"
_PACKAGE = "org.apache.kafka.common.config.provider."
# A class of Java's has a package.
_JAVA_CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+")
_JAVA_ONLY = (
    "is of a config provider that only Java has ({class_name}): the Connect worker of a hosted Java connector resolves "
    "it, {who} cannot; use ${{file:...}}, ${{dir:...}} or ${{env:...}}"
)

_OURS = "kconnect."
_NOT_CONFIGURED = f"is of a provider that is not configured: correct it, or add the provider to `{_PROVIDERS}`"

log = logging.getLogger("kconnect")


class ConfigResolver:
    """Replaces variables with their values. Create it with `from_worker`, for one run; reads files when it resolves.

    Unlike Connect, it raises an error for a variable without a value.
    """

    def __init__(
        self, providers: Mapping[str, Provider], java: Iterable[str] = (), hidden: HiddenValues | None = None
    ) -> None:
        self._providers, self._java = dict(providers), frozenset(java)
        self._values: dict[tuple[str, str, str], str | ProviderProblem] = {}
        self._hidden = HiddenValues() if hidden is None else hidden

    @classmethod
    def from_worker(
        cls,
        worker: Mapping[str, Any],
        variables: Mapping[str, str] | None = None,
        hidden: HiddenValues | None = None,
    ) -> ConfigResolver:
        """The providers that a worker defines; without any `config.providers`: `file`, `dir` and `env`.

        Unless the worker has turned providers off, there are `airflow` and `airflow-var`, too. Variables of providers
        that only Java has stay as they are: see `java_providers`.

        :param worker: the worker's keys, variables not resolved; `config.providers*` cannot use variables.
        :param variables: the values of Airflow's variables by `Variable.address`; None without Airflow.
        :param hidden: shared with the resolvers of other connectors in this process.
        :raises ConfigError: with all errors of `config.providers*`, and with the worker's own keys that only Java could
            resolve.
        """
        errors: dict[str, list[str]] = {}
        props = _own_texts(worker, errors)
        java = java_providers(worker)
        if OWN_PROVIDER in java:
            errors[f"{_PROVIDERS}.{OWN_PROVIDER}.class"] = [
                f"a Java class cannot have the name {OWN_PROVIDER}, which runs use"
            ]
        errors |= java_variables(worker, worker, "the worker configuration")
        providers: dict[str, Provider] = {**_of_tasks(props, errors, variables)}
        for name, default in _declared(props.get(_PROVIDERS)).items():
            if name in java:
                continue
            key = f"{_PROVIDERS}.{name}.class"
            try:
                provider_class = _class_of(props.get(key, default))
                key = f"{_PROVIDERS}.{name}.param.{provider_class.parameter}"
                _refuse_unknown(name, provider_class, props, errors)
                providers[name] = provider_class(props.get(key))
            except ProviderProblem as problem:
                errors.setdefault(key, [str(problem)])
        if errors:
            raise ConfigError(errors)
        return cls(providers, java, hidden)

    @property
    def secrets(self) -> frozenset[str]:
        """All values inserted so far, as they are and trimmed; for the caller to mask."""
        return self._hidden.values

    def resolve(self, props: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with its variables resolved once: variables inside the inserted values stay text.

        Text around a variable stays, and so does a variable of a provider that is not configured, as in Connect; but
        not in keys of ours, which may allow or forbid something. Keys, and values that are not text, stay unchanged.

        :raises ConfigError: with all variables that have no value.
        """
        errors: dict[str, list[str]] = {}
        resolved: dict[str, Any] = {}
        for key, value in props.items():
            resolved[key] = self._substitute(key, value, errors) if isinstance(value, str) else value
        if errors:
            raise ConfigError(errors, connector=_name(props))
        return resolved

    def hide(self, text: str, shortest: int = 1) -> str:
        """A text in which resolved values are replaced by their variables, including values that are escaped or in a
        URL.

        Values of up to three characters are replaced only if they are whole words.

        :param shortest: leave values with fewer characters alone.
        """
        return self._hidden.hide(text, shortest)

    @contextmanager
    def hidden_in_errors(self) -> Iterator[None]:
        """Error texts quote what is wrong; errors that leave the block quote the variable and not its value."""
        try:
            yield
        except ConfigError as error:
            errors = {key: [self.hide(message) for message in messages] for key, messages in error.errors.items()}
            raise ConfigError(errors, error.connector) from None
        except ConnectError as error:
            if self._hidden:
                raise type(error)(self.hide(str(error))) from None
            raise

    def _substitute(self, key: str, text: str, errors: dict[str, list[str]]) -> str:
        pieces, at, unresolved = [], 0, False
        problems: dict[str, None] = {}
        for variable in variables_in(text):
            if variable.provider not in self._providers:
                if variable.provider not in self._java:
                    unresolved = True
                    if key.startswith(_OURS):
                        problems[f"variable {printable(variable.text)} {_NOT_CONFIGURED}"] = None
                continue
            value = self._value(variable)
            if isinstance(value, ProviderProblem):
                problems[f"variable {printable(variable.text)} {value}"] = None
                continue
            pieces += [text[at : variable.start], value]
            at = variable.end
        pieces.append(text[at:])
        if unresolved and not problems:
            log.warning("`%s` has a variable of a provider that is not configured; it is left unchanged", key)
        if at and sum(map(len, pieces)) > MAX_BYTES:
            problems[f"is longer than {MAX_BYTES} characters with its variables resolved"] = None
        if problems:
            errors[key] = list(problems)
            return text
        return "".join(pieces)

    def _value(self, variable: Variable) -> str | ProviderProblem:
        address = (variable.provider, variable.path, variable.key)
        if address not in self._values:
            self._values[address] = self._look_up(variable)
        return self._values[address]

    def _look_up(self, variable: Variable) -> str | ProviderProblem:
        try:
            value = self._providers[variable.provider].get(variable.path, variable.key)
        except ProviderProblem as problem:
            return problem
        for form in filter(None, (value, java_trim(value))):
            self._hidden.add(form, variable.text)
        return value


def _declared(providers: str | None) -> Mapping[str, str | None]:
    """The names in `config.providers`, each with its default class."""
    return DEFAULTS if providers is None else dict.fromkeys(filter(None, map(java_trim, providers.split(","))))


def java_providers(worker: Mapping[str, Any]) -> dict[str, str]:
    """The config providers of a worker that are Java classes other than Kafka's own: class by name.

    :param worker: the worker's keys.
    """
    props = _own_texts(worker, {})
    classes = {name: props.get(f"{_PROVIDERS}.{name}.class", "") for name in _declared(props.get(_PROVIDERS))}
    return {
        name: class_name
        for name, class_name in classes.items()
        if _JAVA_CLASS.fullmatch(class_name) and not class_name.startswith(_PACKAGE)
    }


def java_variables(config: Mapping[str, Any], worker: Mapping[str, Any], who: str) -> dict[str, list[str]]:
    """What is wrong with a configuration that only Python reads: key -> messages for variables that need Java.

    :param config: variables not resolved.
    :param worker: the worker's keys.
    :param who: cannot resolve them, such as `a connector that is not hosted`.
    """
    java = java_providers(worker)
    errors: dict[str, list[str]] = {}
    for key, value in config.items() if java else ():
        if isinstance(value, str) and not key.startswith(_PROVIDERS):
            for variable in variables_in(value):
                if variable.provider in java:
                    problem = _JAVA_ONLY.format(class_name=java[variable.provider], who=who)
                    errors.setdefault(key, []).append(f"variable {printable(variable.text)} {problem}")
    return errors


def _task_providers(providers: str | None) -> list[str]:
    """Which of Airflow's providers exist: none if all are turned off, and none whose name is defined otherwise."""
    declared = _declared(providers)
    return [name for name in IN_TASKS if name not in declared] if declared else []


def task_providers(worker: Mapping[str, Any]) -> dict[str, TaskConfigProvider]:
    """Airflow's providers, for looking up values: each knows what the worker allows.

    :param worker: the worker's keys, variables not resolved.
    :raises ConfigError: with all errors of their keys.
    """
    errors: dict[str, list[str]] = {}
    providers = _of_tasks(_own_texts(worker, {}), errors)
    if errors:
        raise ConfigError(errors)
    return providers


def _of_tasks(
    props: Mapping[str, str], errors: dict[str, list[str]], variables: Mapping[str, str] | None = None
) -> dict[str, TaskConfigProvider]:
    providers = {}
    for name in _task_providers(props.get(_PROVIDERS)):
        key = f"{_PROVIDERS}.{name}.param.{TaskConfigProvider.parameter}"
        _refuse_unknown(name, TaskConfigProvider, props, errors)
        try:
            providers[name] = TaskConfigProvider(props.get(key), name, variables)
        except ProviderProblem as problem:
            errors.setdefault(key, []).append(str(problem))
    return providers


def task_variables(config: Mapping[str, Any], worker: Mapping[str, Any]) -> Iterator[tuple[str, Variable]]:
    """The variables of a configuration that Airflow tasks look up, each with its key.

    :param config: the configuration of a connector or of the worker itself, variables not resolved.
    :param worker: the worker's keys, variables not resolved.
    """
    providers = worker.get(_PROVIDERS)
    names = _task_providers(providers if isinstance(providers, str) else None)
    for key, value in config.items():
        if isinstance(value, str) and not key.startswith(_PROVIDERS):
            yield from ((key, variable) for variable in variables_in(value) if variable.provider in names)


def _own_texts(worker: Mapping[str, Any], errors: dict[str, list[str]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, value in worker.items():
        if key != _PROVIDERS and not key.startswith(f"{_PROVIDERS}."):
            continue
        try:
            texts[key] = java_trim(coerce(value))
        except ValueError as error:
            errors[key] = [str(error)]
            continue
        if has_reference(value):
            errors[key] = [
                "has a variable; config providers are created before variables are resolved: write the value"
            ]
    return texts


def _class_of(name: str | None) -> type[Provider]:
    known = ", ".join(_PACKAGE + simple for simple in CLASSES)
    if not name:
        raise ProviderProblem(f"is missing; expected one of: {known}")
    try:
        return CLASSES[name.removeprefix(_PACKAGE)]
    except KeyError:
        raise ProviderProblem(
            f"Config provider {printable(name)} is not known here; expected one of: {known}"
        ) from None


def _refuse_unknown(
    name: str, provider: type[Provider], props: Mapping[str, str], errors: dict[str, list[str]]
) -> None:
    """A typo in the name of a restriction would lift it."""
    prefix = f"{_PROVIDERS}.{name}."
    known = (
        (f"param.{provider.parameter}",) if provider is TaskConfigProvider else ("class", f"param.{provider.parameter}")
    )
    for key in props:
        if key.startswith(prefix) and key.removeprefix(prefix) not in known:
            errors[key] = [f"is not a key of {provider.__name__}; expected one of: {', '.join(known)}"]


def _name(props: Mapping[str, Any]) -> str | None:
    name = props.get("name")
    return name if isinstance(name, str) else None
