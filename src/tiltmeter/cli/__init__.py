"""The command line: one file per command, without logic, imported when the command is typed."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import click

from ..errors import (
    MORE_FILES,
    NO_ROOM,
    TOO_MANY_FILES,
    BatchesOut,
    Interrupted,
    PilotStopped,
    TiltmeterError,
    UnknownName,
    UsageError,
)
from ..records import __version__

SECTIONS = {  # of the help, with the verbs of each
    "Set up": {
        "init": "Write a protocol of your own to start from: one file, commented.",
        "ls": "List protocols, examples, model kinds, instruments.",
        "show": "Show a protocol: its measures, sources and departures.",
        "check": "Check files of protocols: keys, tables, values. Nothing is asked.",
        "plan": "Plan a run: its calls, its cost, the tilts it could find.",
    },
    "Run": {
        "run": "Run an audit, from prompts to report; again to resume it.",
        "audit": "Ask prompts of yours with only a cue changed; compare answers.",
        "label": "Label the outputs of a run again, or with another judge.",
        "merge": "Join runs of one plan, such as shards, into one run.",
        "jobs": "List the batches of a run at a provider, or cancel them.",
        "import": "Make a run from existing outputs; add people's labels.",
    },
    "Read": {
        "report": "Write the report of a run.",
        "explore": "Look at the outputs of runs, with their labels beside them.",
        "analyse": "Compute the estimates of a run again, and check thresholds.",
        "table": "Print estimates as a table: Markdown, LaTeX or CSV.",
        "figure": "Save figures as SVG, PNG or PDF.",
        "quote": "Sample answers of each label, not hand-picked.",
    },
    "Check": {
        "annotate": "Label outputs by hand in the browser; settle disagreement.",
        "validate": "Compare judges with people; draw outputs for people to label.",
        "language": "Try a language's pack, start one, learn from unread answers.",
    },
    "Compare": {
        "compare": "Compare runs of one protocol, with intervals.",
        "history": "Follow runs over time: what changed, and what moved.",
    },
    "Hand on": {
        "export": "Export tables, evidence for an auditor, or a whole run.",
        "cite": "Cite a run: a sentence, BibTeX or CITATION.cff.",
        "log": "Hand a run to a tracker of experiments (MLflow).",
    },
    "Try out": {
        "selftest": "Check with planted models that a planted tilt is found.",
        "doctor": "Check what is installed and reachable; say what to type.",
        "serve": "Serve a planted model over loopback, to test with.",
        "completion": "Print your shell's completion script.",
    },
}
VERBS = {verb: line for verbs in SECTIONS.values() for verb, line in verbs.items()}

MEANT = {  # words that people type in place of a verb → what to type
    "cost": "plan",
    "diff": "compare",
    "docs": "--help",
    "estimate": "analyse",
    "eval": "run",
    "evaluate": "run",
    "gate": "analyse RUN --fail-on tilt",
    "graph": "figure",
    "help": "--help, or: tiltmeter VERB --help",
    "list": "ls",
    "new": "init",
    "open": "explore",
    "plot": "figure",
    "power": "plan PROTOCOL --model M --detect 0.05",
    "resume": "run …, as before, to resume it",
    "seal": "export FOLDER --seal",
    "start": "run",
    "test": "selftest",
    "verify": "export FOLDER --verify",
    "version": "--version",
    "view": "explore",
}

PROGRAM = "tiltmeter"
PROJECT = "tiltmeter.toml"  # in the current folder


MOST = 10**12  # the largest number that may be typed


def _bounded(then: Callable[..., object] | None) -> Callable[..., object]:
    """Makes a callback that refuses huge, infinite and NaN numbers, then calls `then`."""

    def check(context: click.Context, parameter: click.Parameter, value: object) -> object:
        if isinstance(value, int | float) and not abs(value) <= MOST:
            raise click.BadParameter(f"{value} is too large or not a number.", context, parameter)
        return value if then is None else then(context, parameter, value)

    return check


class Verbs(click.Group):
    """The group of all commands, which imports a command's module when it is typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Lists the names of all commands, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Imports the module of a command and returns the command. UnknownName for other names."""
        if name in MEANT:
            raise UsageError(f"No verb '{name}'. Type: tiltmeter {MEANT[name]}")
        if name not in VERBS:
            raise UnknownName("verb", name, VERBS, "Type: tiltmeter --help")
        command: click.Command = import_module(
            f".{name}_" if iskeyword(name) else f".{name}", __name__
        ).command
        for parameter in command.params:
            if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
                parameter.callback = _bounded(parameter.callback)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the help's sections that list the commands; imports no command."""
        width = max(map(len, VERBS))
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(width), line) for verb, line in verbs.items()])


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tiltmeter", message="%(prog)s %(version)s")
@click.option(
    "--env-file",
    type=click.Path(dir_okay=False),
    help="NAME=VALUE lines: variables, such as keys, that are not set yet.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Say which defaults of this folder apply, and why a command waits.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Log every step and call to a file, without keys, prompts or answers.",
)
@click.pass_context
def group(context: click.Context, env_file: str | None, verbose: bool, log: str | None) -> None:
    """Measures how far a generative model tilts when only a demographic cue changes.

    \b
    Begin with:   tiltmeter run roles --model planted:she=0.7 --language en --out first
    then:         tiltmeter init audit.toml     (an audit of your own)
                  tiltmeter run roles --model builtin --language en --mode exact --out run
                  (a small model on this machine; needs the extra builtin)
    Exit codes:   0 fine, 1 error, 2 usage, 3 a threshold failed, 4 inconclusive,
                  5 batches are out: come back, 6 the first replies cannot be measured.
    """
    defaults = _apply_defaults(context, env_file)
    if verbose or log is not None:
        from .command_log import start

        start(log, verbose, context.obj, defaults)


def _apply_defaults(context: click.Context, env_file: str | None) -> str:
    """Sets variables from a file, and defaults from tiltmeter.toml; returns a line about these."""
    if env_file is None and not Path(PROJECT).is_file():
        return f"no {PROJECT} here"
    from ..api.options import project

    if env_file is not None:
        project.set_environment(env_file)
    defaults = project.project_defaults(Path())
    context.default_map = dict.fromkeys(("run", "plan", "label", "analyse", "report"), defaults)
    settings = ", ".join(f"{name} = {value}" for name, value in defaults.items())
    return f"{PROJECT}: {settings or 'none'}"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns its exit code. Prints expected errors in one or two lines."""
    code = _exit_code(sys.argv[1:] if arguments is None else arguments)
    if f"{__name__}.command_log" in sys.modules:  # a log was typed
        from .command_log import stop

        stop(code)
    return code


def _exit_code(arguments: list[str]) -> int:
    try:
        for word in arguments:
            if not word.isascii() and _is_garbled(word):
                raise UsageError(f"{word!r} is not UTF-8. Type the command in a UTF-8 terminal.")
        code = group.main(args=arguments, prog_name=PROGRAM, standalone_mode=False, obj=arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        return _fail(_usage(error), 2)
    except click.Abort:
        click.echo("Stopped.", err=True)
        return 1
    except BatchesOut as out:
        click.echo(str(out), err=True)
        return out.exit_code
    except PilotStopped as stopped:
        return _fail(f"{stopped}{_mended_command(arguments, stopped.typed)}", stopped.exit_code)
    except Interrupted as error:
        return _fail(f"{error}\nTo go on: {shlex.join((PROGRAM, *arguments))}", error.exit_code)
    except TiltmeterError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:  # a full disk, a folder that cannot be written to
        return _fail(_system_error(error), 1)
    except Exception as error:  # a bug, or damage: it is said in a line, and -v shows all of it
        if {"-v", "--verbose"} & set(arguments):
            raise
        return _fail(_unforeseen(error), 1)
    return code if isinstance(code, int) else 0


def _is_garbled(word: str) -> bool:
    """True if a typed word is not valid UTF-8."""
    return word.encode("utf-8", "replace").decode() != word


def _mended_command(arguments: Sequence[str], typed: str) -> str:
    """Writes a line with the command and the options `typed` that would mend it; "" if none would.
    An option replaces its earlier value; all but --judge-for change prompts, so --out gets "-2".
    """
    if not typed:
        return ""
    option = typed.partition(" ")[0]
    pairs = zip(("", *arguments), arguments, strict=False)
    words = [word for before, word in pairs if option not in (before, word.partition("=")[0])]
    if not typed.startswith("--judge-for"):
        for index, word in enumerate(words[:-1]):
            if word == "--out":
                words[index + 1] = f"{words[index + 1].rstrip('/')}-2"
        words = [f"{word.rstrip('/')}-2" if word.startswith("--out=") else word for word in words]
    return f"\nFor instance: {shlex.join((PROGRAM, *words))} {typed}"


def _system_error(error: OSError) -> str:
    """Describes an error of the operating system, and what to do."""
    if error.errno in TOO_MANY_FILES:
        return f"Too many files are open. {MORE_FILES}"
    reason = (
        f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    )
    if error.errno in NO_ROOM or "No space left" in reason:  # libraries may give no number
        return f"{reason}. Free space, or name another place, and type the same command again."
    return f"{reason}. Nothing else was changed."


def _unforeseen(error: Exception) -> str:
    """Describes an unexpected error: as damage to a run's file, else as a bug of tiltmeter."""
    from ..store import find_damage_of_opened

    damage = find_damage_of_opened()
    if damage is not None:
        return str(damage)
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    location = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return (
        f"{type(error).__name__} at {location}: {' '.join(str(error).split())[:200]}. If nobody "
        "edited the files of the run, this is a bug of tiltmeter. To see more, type the same "
        "after: tiltmeter -v"
    )


def _usage(error: click.ClickException) -> str:
    """Writes one of click's usage errors in one line, with the command for help."""
    complaint = " ".join(error.format_message().split()).rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else PROGRAM
    if isinstance(error, click.NoSuchOption):
        complaint = f"No such option '{error.option_name}'{_options_meant(error)}"
    elif isinstance(error, click.MissingParameter) and context is not None:
        if isinstance(error.param, click.Option) and error.param.help:
            complaint += f": {error.param.help.rstrip('.')}"
        else:
            complaint += f": {' '.join((path, *context.command.collect_usage_pieces(context)))}"
    return f"{complaint}{'' if complaint.endswith('?') else '.'} Type: {path} --help"


def _options_meant(error: click.NoSuchOption) -> str:
    """Suggests up to three similar options; those that begin with the typed text come first."""
    typed = error.option_name
    similar = sorted(error.possibilities or (), key=lambda name: not name.startswith(typed))
    return f". Did you mean {' or '.join(repr(name) for name in similar[:3])}?" if similar else ""


def _fail(message: str, code: int) -> int:
    """Prints an error without control characters and keys; returns the exit code."""
    from ..report.page_model.sanitize import visible
    from ..secret_filter import environment_secrets, mask

    message = mask(environment_secrets(), message)
    click.echo(f"error: {visible(message)}", err=True)
    if f"{__name__}.command_log" in sys.modules:
        from .command_log import LOG

        LOG.debug("error: %s", message)
    return code


def entry() -> None:
    """Runs the command `tiltmeter` and ends the process.

    Matrix products are small here: threads that wait for each other would cost three times the CPU.
    Garbage collection runs less often, as it takes a tenth of an analysis by default.
    """
    gc.set_threshold(300_000, 50, 50)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdout", "stderr"):  # None if they were closed
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    code = main()
    gc.freeze()  # no search for cycles at exit: saves .12 CPU s of an analysis
    sys.exit(code)
