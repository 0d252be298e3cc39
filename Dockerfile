# articulon with its kernels compiled:
#   docker build --tag articulon .
#   docker run --rm --volume "$PWD:/work" articulon run nanoparticle-docking
# Kernels are compiled for the processor of the machine that builds the image. On another processor they are compiled again,
# at the first run.
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 articulon
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN pip install --no-cache-dir --constraint constraints.txt ".[molecules,grains,studio,robots]"

USER articulon
WORKDIR /work
# One case of each kind: what it compiles stays in ~/.cache/articulon. Exit 3 says that a check of the case, made for its
# full duration, is off.
RUN set -eu; cd "$(mktemp -d)"; \
    short() { articulon run "$1" --set "run.duration=$2" --set run.frames=2 --out "$1" || [ $? = 3 ]; }; \
    short nanoparticle-docking "8 ns"; \
    short double-pendulum "0.1 s"; \
    short andrews-squeezer "1 ms"; \
    short trp-zipper "0.02 ps"; \
    short molten-salt-100 "0.02 ps"; \
    short lj-melt 0.05; \
    short polymer-melt 0.05; \
    short box-packing "1 ms"; \
    short bounce "1 ms"; \
    short newtons-cradle "0.1 s"; \
    short hard-spheres 0.05; \
    rm -rf "$PWD"

ENTRYPOINT ["articulon"]
CMD ["cases"]
