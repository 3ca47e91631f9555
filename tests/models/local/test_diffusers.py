"""diffusers: a tiny real Stable Diffusion with random weights through the engine; what is said of what does not fit.

The library is in no extra of the tests (several GB with torch). With it: pip install '.[diffusers]' && pytest -m slow
tests/models/local/test_diffusers.py
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

import tiltmeter
from tiltmeter.cli import main
from tiltmeter.errors import (
    Incapable,
    MissingExtra,
    ModelError,
    TiltmeterError,
    UnknownName,
    UsageError,
)
from tiltmeter.models import FREE
from tiltmeter.models.kinds import make_model
from tiltmeter.models.local import diffusers as module
from tiltmeter.records import Message, Request, Sampling
from tiltmeter.stages.steps.connect import Connect
from tiltmeter.store.blobs import place_of

GUARDS = str(Path(__file__).parents[2] / "guards.toml")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
missing = [name for name in module.NEEDS if find_spec(name) is None]
REAL = (
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(missing), reason=f"the extra diffusers is not installed: no {', '.join(missing)}"
    ),
    pytest.mark.filterwarnings("default"),  # what the libraries warn of is not ours
)


def real(function: Any) -> Any:
    for mark in REAL:
        function = mark(function)
    return function


def asked(size: str = "64x64", seed: int | None = 1, text: str = "a guard") -> Request:
    return Request(
        "diffusers:x", (Message("user", text),), Sampling(None, None, 0, seed), size=size
    )


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A folder that says it is a pipeline, without its parts."""
    folder = tmp_path / "shell"
    folder.mkdir()
    (folder / "model_index.json").write_text(
        '{"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "U"]}'
    )
    return folder


# names


def test_settings_are_read_into_the_call_and_the_loading(shell: Path) -> None:
    found = module.parse_name(
        f"{shell}?steps=30&guidance=7.5&dtype=float16&device=cuda:1&negative_prompt=a hat&clip_skip=2"
    )
    assert found.folder == shell and (found.dtype, found.device, found.hub) == (
        "float16",
        "cuda:1",
        {},
    )
    assert found.call == {
        "num_inference_steps": 30,
        "guidance_scale": 7.5,
        "negative_prompt": "a hat",
        "clip_skip": 2,
    }
    hub = module.parse_name("owner/name-1.5?revision=main&variant=fp16")
    assert hub.folder is None and hub.hub == {"revision": "main", "variant": "fp16"}
    assert (hub.dtype, hub.device, hub.call) == ("float32", "", {})


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ("steps=many", UsageError, "steps=many must be a number of steps"),
        ("steps=0", UsageError, "steps=0 must be a number"),
        ("batch=0", UsageError, "batch=4"),
        ("steps=2.5", UsageError, "Type for instance: steps=30"),
        ("num_inference_steps=true", UsageError, "must be a number of steps"),
        ("guidance=NaN", UsageError, "guidance=nan must be a number"),
        ("steps", UsageError, "is not a list of settings"),
        ("dtype=float61", UnknownName, "Did you mean 'float16'"),
        ("device=gpu", UnknownName, "No device 'gpu'"),
        ("height=64", UsageError, "the audit sets height"),
        ("generator=1", UsageError, "Leave it out"),
        ("revision=main", UsageError, "revision is for names on the Hub"),
    ],
)
def test_settings_that_cannot_be(
    shell: Path, settings: str, error: type[TiltmeterError], said: str
) -> None:
    with pytest.raises(error, match=said):
        module.parse_name(f"{shell}?{settings}")


def test_folders_that_are_no_pipeline(tmp_path: Path, shell: Path) -> None:
    for name, said in (
        ("", "Which pipeline"),
        (f"{tmp_path}", "is not a pipeline"),
        ("no_such", "no_such is neither a folder nor"),
        (f"{tmp_path}/a/b", "nor a name on the Hub"),
    ):
        with pytest.raises(UsageError, match=said):
            module.parse_name(name)
    for content, said in (
        ("{", "is not a pipeline"),
        ("[]", "is not a pipeline"),
        ("{}", "it has no model_index.json that names a class"),
        ('{"_class_name": ["pipeline", "Mine"]}', "which is never run"),
    ):
        (shell / "model_index.json").write_text(content)
        with pytest.raises(UsageError, match=said):
            module.parse_name(str(shell))


def test_a_missing_extra_says_what_to_type(
    shell: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "NEEDS", ("a_module_that_is_not_there",))
    with pytest.raises(MissingExtra):
        make_model(f"diffusers:{shell}")
    assert main(["run", GUARDS, "-m", f"diffusers:{shell}", "--out", str(tmp_path / "run")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "needs the extra 'diffusers'" in said and "pip install '.[diffusers]'" in said


def test_the_extra_is_by_itself_and_what_it_brings_is_not_imported_before_it_is_named() -> None:
    import tomllib

    extras = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    lines = extras["optional-dependencies"]
    assert {line.partition(">")[0] for line in lines["diffusers"]} == set(module.NEEDS)
    assert not any(
        "torch" in line or "diffusers" in line for extra in ("all", "test") for line in lines[extra]
    )
    code = "import sys, tiltmeter.models.local.diffusers as m; m.parse_name('a/b?steps=2'); print(set(m.NEEDS) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_requests_that_it_cannot_answer(shell: Path) -> None:
    model = module.Diffusers(str(shell))
    model.check(asked("64x72"))
    with pytest.raises(Incapable, match="makes pictures, but text is asked for"):
        model.check(asked(""))
    with pytest.raises(
        Incapable, match=r'multiple of 8 pixels, but 1000x754 is asked for.*size = "1000x752"'
    ):
        model.check(asked("1000x754"))


def test_it_costs_nothing_and_draws_one_at_a_time(shell: Path) -> None:
    model = module.Diffusers(str(shell))
    assert model.price == FREE and model.parallel == 1 and model.makes == ("pictures",)
    assert Connect().expected_price("diffusers:a/b") == FREE


def test_what_does_not_fit_into_memory_says_what_to_type(shell: Path) -> None:
    model = module.Diffusers(f"{shell}?steps=3")
    model._device = "cuda:0"
    said = r"memory of cuda:0. Type --model 'diffusers:.*\?steps=3&dtype=bfloat16', which takes half, or --model '.*&device=cpu'"
    with pytest.raises(ModelError, match=said), model._translate_errors("draw with"):
        raise MemoryError
    half = module.Diffusers(f"{shell}?dtype=float16&device=cuda")
    assert "Name a smaller pipeline" in half._too_large()


# the real library


def tiny(folder: Path, flags: bool = False) -> Path:
    """Stable Diffusion in its own parts, as small as they get, with random weights; flags: its checker holds all back."""
    import torch
    from diffusers import (
        AutoencoderKL,
        PNDMScheduler,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import (
        CLIPConfig,
        CLIPImageProcessor,
        CLIPTextConfig,
        CLIPTextModel,
        CLIPTokenizer,
    )

    torch.manual_seed(0)
    letters = [chr(code) for code in range(33, 127)]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    source = folder.parent / f"{folder.name}-words"
    source.mkdir()
    (source / "vocab.json").write_text(
        json.dumps({word: place for place, word in enumerate(words)})
    )
    (source / "merges.txt").write_text("#version: 0.2\n")
    small = {
        "hidden_size": 8,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    text = CLIPTextConfig(
        vocab_size=len(words),
        max_position_embeddings=77,
        bos_token_id=len(words) - 2,
        eos_token_id=len(words) - 1,
        pad_token_id=len(words) - 1,
        **small,
    )
    blocks = {"block_out_channels": (8, 8), "norm_num_groups": 4, "layers_per_block": 1}
    unet = UNet2DConditionModel(
        sample_size=8,
        in_channels=4,
        out_channels=4,
        cross_attention_dim=8,
        attention_head_dim=2,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        **blocks,
    )
    vae = AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        sample_size=64,
        **{**blocks, "block_out_channels": (8, 8, 8, 8)},
    )
    checker = processor = None
    if flags:
        vision = {**small, "image_size": 32, "patch_size": 16, "projection_dim": 8}
        checker = StableDiffusionSafetyChecker(
            CLIPConfig(text_config=text.to_dict(), vision_config=vision, projection_dim=8)
        )
        with torch.no_grad():
            checker.concept_embeds_weights.fill_(-2.0)  # a threshold that any cosine is above
        processor = CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        )
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=CLIPTextModel(text),
        tokenizer=CLIPTokenizer.from_pretrained(str(source), model_max_length=77),
        unet=unet,
        scheduler=PNDMScheduler(skip_prk_steps=True, steps_offset=1),
        safety_checker=checker,
        feature_extractor=processor,
        requires_safety_checker=flags,
    )
    pipeline.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("pipelines") / "tiny")


def drawn(name: str, *requests: Request) -> list[Any]:
    async def work() -> list[Any]:
        model = make_model(f"diffusers:{name}")
        await model.open()
        try:
            return [await model.ask(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(work())


@real
def test_an_audit_through_the_engine(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: met.append(where))
    subject = f"diffusers:{pipeline}?steps=2&guidance=3&device=cpu"
    run = tiltmeter.run(GUARDS, subject, tmp_path / "run", samples=1)
    assert len(run.outputs) == 12 and set(run.outputs["outcome"]) == {"answer"} and met == []
    names = list(run.outputs["blob"])
    assert len(set(names)) == 12
    for name in names:
        with Image.open(place_of(run.folder, name)) as image:
            assert (image.format, image.mode, image.size) == ("PNG", "RGB", (64, 64))
    (served,), (print_,) = set(run.calls["served"]), set(run.calls["fingerprint"])
    assert served == f"StableDiffusionPipeline sha256:{module.digest(pipeline)[:16]}"
    assert (
        print_.startswith("diffusers-")
        and print_.endswith(" cpu float32")
        and set(run.calls["cost"]) == {0.0}
    )
    again = tiltmeter.run(GUARDS, subject, tmp_path / "again", samples=2)
    assert set(names) < set(again.outputs["blob"]) and len(set(again.outputs["blob"])) == 24


@real
def test_a_seed_a_text_and_settings_say_which_picture(pipeline: Path) -> None:
    name = f"{pipeline}?steps=2&device=cpu"
    first, same, seed, text, wide = drawn(
        name, asked(), asked(), asked(seed=2), asked(text="a cook"), asked("72x64")
    )
    assert first.picture == same.picture
    assert len({each.picture for each in (first, seed, text, wide)}) == 4
    assert Image.open(io.BytesIO(wide.picture)).size == (72, 64)
    (longer,), (half,) = (
        drawn(f"{name}&guidance=1", asked()),
        drawn(f"{name}&dtype=bfloat16", asked()),
    )
    assert longer.picture != first.picture != half.picture and half.fingerprint.endswith(
        "cpu bfloat16"
    )


@real
def test_it_draws_what_the_library_draws_when_it_is_called_by_hand(pipeline: Path) -> None:
    import numpy as np
    import torch
    from diffusers import StableDiffusionPipeline

    (reply,) = drawn(f"{pipeline}?steps=2&guidance=3&device=cpu", asked(seed=5))
    by_hand = StableDiffusionPipeline.from_pretrained(str(pipeline), local_files_only=True)
    image = by_hand(
        "a guard",
        height=64,
        width=64,
        num_inference_steps=2,
        guidance_scale=3.0,
        generator=torch.Generator().manual_seed(5),
    ).images[0]
    assert np.array_equal(np.asarray(image), np.asarray(Image.open(io.BytesIO(reply.picture))))


@real
def test_a_checker_that_holds_a_picture_back_is_a_refusal(tmp_path: Path) -> None:
    (reply,) = drawn(f"{tiny(tmp_path / 'strict', flags=True)}?steps=1&device=cpu", asked())
    assert (reply.outcome, reply.picture) == ("refusal", b"") and "safety checker" in reply.text


@real
def test_a_picture_black_all_over_is_no_answer(tmp_path: Path) -> None:
    import torch
    from diffusers import AutoencoderKL

    folder = tiny(tmp_path / "dark")
    vae = AutoencoderKL.from_pretrained(str(folder / "vae"))
    with torch.no_grad():
        vae.decoder.conv_out.bias.fill_(torch.nan)  # as after an overflow
    vae.save_pretrained(str(folder / "vae"))
    (reply,) = drawn(f"{folder}?steps=1&device=cpu", asked())
    assert reply.outcome == "error" and "black all over" in reply.text


@real
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"_class_name": "NoSuchPipeline"},
            "has no pipeline NoSuchPipeline. Type: pip install --upgrade diffusers",
        ),
        (
            {"_class_name": "DDPMPipeline"},
            "does not accept prompt and width and height: it cannot make a picture from a text alone",
        ),
        ({"_class_name": "StableDiffusionImg2ImgPipeline"}, "does not accept width and height"),
        ({"unet": ["diffusers", "NoSuchUNet"]}, "diffusers cannot load"),
    ],
)
def test_pipelines_that_cannot_be_loaded_or_do_not_draw(
    pipeline: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    folder = tmp_path / "changed"
    folder.mkdir()
    for part in pipeline.iterdir():
        (folder / part.name).symlink_to(part)
    (folder / "model_index.json").unlink()
    (folder / "model_index.json").write_text(json.dumps({**module.index(pipeline), **change}))
    with pytest.raises(TiltmeterError, match=said):
        drawn(f"{folder}?device=cpu")


@real
def test_code_that_comes_with_a_pipeline_is_not_run(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "tiny")
    (folder / "unet" / "mine.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass X: pass\n"
    )
    (folder / "model_index.json").write_text(
        json.dumps({**module.index(folder), "unet": ["mine", "X"]})
    )
    with pytest.raises(ModelError, match="diffusers cannot load"):
        drawn(f"{folder}?device=cpu")
    assert not (tmp_path / "ran").exists()


@real
def test_weights_that_break_off_a_device_that_is_not_there_and_a_setting_that_is_unknown(
    tmp_path: Path,
) -> None:
    import torch

    folder = tiny(tmp_path / "tiny")
    with pytest.raises(
        UnknownName,
        match=r"No setting of StableDiffusionPipeline 'guidence'. Did you mean 'guidance'",
    ):
        drawn(f"{folder}?guidence=3")
    with pytest.raises(ModelError, match="torch sees no device cuda:99"):
        drawn(f"{folder}?device=cuda:99")
    with pytest.raises(ModelError, match="diffusers cannot draw with"):
        drawn(f"{folder}?device=cpu&steps=1&clip_skip=much", asked())
    with (
        pytest.raises(ModelError, match="does not fit into the memory"),
        module.Diffusers(str(folder))._translate_errors("load"),
    ):
        torch.empty(2**55)  # torch's own error for 128 PiB
    before = module.digest(folder)
    assert module.digest(Path(shutil.copytree(folder, tmp_path / "copy"))) == before
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert module.digest(folder) != before
    with pytest.raises(ModelError, match="diffusers cannot load"):
        drawn(f"{folder}?device=cpu")


@real
def test_a_copy_in_the_hubs_cache_needs_no_network_and_is_named_by_its_commit(
    pipeline: Path, tmp_path: Path
) -> None:
    """The cache as huggingface_hub documents it; where nothing is cached, the Hub is asked, and what fails is said."""
    home = tmp_path / "hub" / "models--owner--tiny"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(COMMIT)
    (home / "snapshots").mkdir()
    (home / "snapshots" / COMMIT).symlink_to(pipeline, target_is_directory=True)
    code = (
        "import socket, sys\n"
        "def off(*where, **_):\n"
        "    print('looked for', where[0], file=sys.stderr)\n"
        "    raise socket.gaierror(-2, 'no network')\n"
        "socket.getaddrinfo = off\n"
        "from tiltmeter.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )

    def run(name: str) -> Any:
        command = [
            sys.executable,
            "-c",
            code,
            "run",
            GUARDS,
            "-m",
            f"diffusers:{name}?steps=1&device=cpu",
            "--samples",
            "1",
            "--limit",
            "1",
            "--out",
            str(tmp_path / name.replace("/", "-")),
        ]
        return subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "HF_HOME": str(tmp_path)}
        )

    done = run("owner/tiny")
    assert done.returncode == 0 and "looked for" not in done.stderr, done.stderr
    found = tiltmeter.open_run(tmp_path / "owner-tiny")
    assert set(found.calls["served"]) == {f"StableDiffusionPipeline owner/tiny@{COMMIT[:12]}"}
    assert set(found.outputs["outcome"]) == {"answer"}
    failed = run("owner/other")
    said = " ".join(failed.stderr.split())
    assert failed.returncode == 1 and "no folder owner/other is here, so the Hub's is meant" in said
    assert "looked for" in said and "Traceback" not in said


# several at a time, with a library that is none


class _Drawn:
    """What a pipeline is asked for: (prompts, seeds, negative prompts) of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], list[int], object]] = []

    def __call__(self, **asked: Any) -> Any:
        several = isinstance(asked["prompt"], list)
        texts = asked["prompt"] if several else [asked["prompt"]]
        seeds = asked["generator"] if several else [asked["generator"]]
        self.calls.append((texts, seeds, asked.get("negative_prompt")))
        pictures = [
            Image.new("RGB", (asked["width"], asked["height"]), (seed, 1, 1)) for seed in seeds
        ]
        return SimpleNamespace(images=pictures, nsfw_content_detected=[s == 9 for s in seeds])


def test_pictures_of_one_size_are_drawn_together_each_with_its_own_noise(
    shell: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = SimpleNamespace(manual_seed=lambda seed: seed)
    torch = SimpleNamespace(Generator=lambda device: noise)
    monkeypatch.setattr(module, "import_module", lambda name: torch)
    found: dict[int, list[bytes]] = {}
    for batch in (1, 4):
        model = module.Diffusers(f"{shell}?batch={batch}&negative_prompt=a hat")
        model._pipeline = drawn = _Drawn()
        requests = [asked("8x8" if seed % 5 else "16x8", seed, f"t{seed}") for seed in range(1, 12)]

        async def work(model: Any = model, requests: Any = requests) -> list[Any]:
            return await asyncio.gather(*map(model.ask, requests))

        replies = asyncio.run(work())
        found[batch] = [reply.picture for reply in replies]
        assert [r.outcome for r in replies] == [
            "refusal" if n == 9 else "answer" for n in range(1, 12)
        ]
        told = [pair for texts, seeds, _ in drawn.calls for pair in zip(texts, seeds, strict=True)]
        assert sorted(told) == sorted((f"t{n}", n) for n in range(1, 12))
        sizes = [len(texts) for texts, _, _ in drawn.calls]
        assert sizes == ([1] * 11 if batch == 1 else [4, 2, 4, 1])
        assert drawn.calls[0][2] == ("a hat" if batch == 1 else ["a hat"] * 4)
        assert (model.batch, model.parallel) == ((1, 1) if batch == 1 else (4, 8))
    assert found[1] == found[4] and len(set(found[1])) == 11  # one is held back


def test_an_error_of_a_batch_is_told_to_each_and_the_next_is_drawn(
    shell: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = module.Diffusers(f"{shell}?batch=2")
    monkeypatch.setattr(model._batches, "_draw", lambda requests: 1 / 0)

    async def work() -> list[object]:
        return await asyncio.gather(*(model.ask(asked()) for _ in range(3)), return_exceptions=True)

    assert [type(error) for error in asyncio.run(work())] == [ZeroDivisionError] * 3
