# RAFS over HTTP, with its embedded models inside: the container needs no network to score.
# Build:  docker build -t rafs .        Run:  docker run --rm -p 127.0.0.1:8000:8000 rafs
# pip's own build arguments (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, ...) choose the package index, and with it the build
# of torch.

FROM python:3.11-slim AS build
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 XDG_CACHE_HOME=/opt/cache
WORKDIR /src
RUN python -m venv /opt/rafs
# The dependencies change less often than the code: they are a layer of their own.
COPY constraints.txt pyproject.toml README.md LICENSE models.yaml ./
COPY rafs/__init__.py rafs/__init__.py
RUN mkdir verifiers counterfactuals service \
    && /opt/rafs/bin/python -m pip install --quiet -c constraints.txt ".[local]"
COPY rafs rafs
COPY verifiers verifiers
COPY counterfactuals counterfactuals
COPY service service
RUN /opt/rafs/bin/python -m pip install --quiet --no-deps --force-reinstall -c constraints.txt . \
    && /opt/rafs/bin/rafs models pull

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home rafs
COPY --from=build /opt/rafs /opt/rafs
COPY --from=build --chown=10001 /opt/cache/rafs /opt/cache/rafs
ENV PATH=/opt/rafs/bin:$PATH XDG_CACHE_HOME=/opt/cache HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/rafs
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# The container is the loopback: publish the port on 127.0.0.1 alone, since there is no authentication yet.
CMD ["rafs", "serve", "--host", "0.0.0.0", "--port", "8000", "--allow-remote"]
