# RAFS over HTTP, with its embedded models inside: the container needs no network to score. docs/deploy.md has the rest.
#
#   docker build -t rafs:0.1.0 .
#   docker run --rm -v rafs:/var/lib/rafs rafs:0.1.0 rafs keys create first    # prints a key, once
#   docker run --rm -v rafs:/var/lib/rafs -p 127.0.0.1:8000:8000 --read-only --tmpfs /tmp -e RAFS_EDIT_SECRET \
#     --stop-timeout 45 rafs:0.1.0
#
# EXTRAS are the optional parts of pyproject.toml that are built in. Without `local` there is no torch and no embedded
# model: then models.yaml may name servers only. pip's own build arguments (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, ...)
# choose the package index, and with it the build of torch.

FROM python:3.11-slim-bookworm AS build
ARG EXTRAS=local,postgres,jobs,batch,otel
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 RAFS_CACHE=/opt/models
WORKDIR /src
RUN python -m venv /opt/rafs && mkdir /opt/models
# The dependencies change less often than the code: they are a layer of their own.
COPY constraints.txt pyproject.toml README.md LICENSE models.yaml ./
COPY rafs/__init__.py rafs/__init__.py
RUN mkdir verifiers counterfactuals service \
    && /opt/rafs/bin/python -m pip install --quiet -c constraints.txt ".[$EXTRAS]"
COPY rafs rafs
COPY verifiers verifiers
COPY counterfactuals counterfactuals
COPY service service
RUN /opt/rafs/bin/python -m pip install --quiet --no-deps --force-reinstall -c constraints.txt . \
    && case ",$EXTRAS," in *,local,*) /opt/rafs/bin/rafs models pull ;; esac

FROM python:3.11-slim-bookworm
RUN groupadd --system --gid 10001 rafs \
    && useradd --system --uid 10001 --gid 10001 --home-dir /var/lib/rafs --shell /usr/sbin/nologin rafs \
    && install --directory --owner 10001 --group 10001 --mode 700 /var/lib/rafs
COPY --from=build /opt/rafs /opt/rafs
COPY --from=build --chown=10001:10001 /opt/models /opt/models
ENV PATH=/opt/rafs/bin:$PATH PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 RAFS_CACHE=/opt/models \
    RAFS_HOST=0.0.0.0 RAFS_PORT=8000 RAFS_DATABASE=sqlite:////var/lib/rafs/rafs.db
USER 10001:10001
WORKDIR /var/lib/rafs
# Keys, results, jobs and held answers, where they are not in PostgreSQL.
VOLUME /var/lib/rafs
EXPOSE 8000
# Alive, not ready: while models load it is no reason to start anew. Whoever sends traffic asks /readyz.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
# Every address but the loopback needs a key: without one in its database the service says so and ends.
CMD ["rafs", "serve"]
