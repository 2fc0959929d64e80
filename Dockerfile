# The command in an image that holds nothing else: no shell, no package manager, no root.
#   docker build -t robosieve .
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" robosieve filter -s web.rsieve ...

FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
# The binary is static, so it needs no C library in the image.
RUN cp "$(scripts/release/binary --quiet)" /robosieve && /robosieve --version

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /robosieve /usr/local/bin/robosieve
COPY LICENSE-APACHE LICENSE-MIT THIRD-PARTY.md /usr/share/doc/robosieve/
WORKDIR /data
USER nonroot
ENTRYPOINT ["robosieve"]
