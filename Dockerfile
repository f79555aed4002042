# The image that `make image` makes without a registry (docs/install.md), for those who have one. Build it in a checkout
# without uncommitted changes:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag REGISTRY/rehearse:VERSION --build-arg VERSION=VERSION \
#     --build-arg REVISION="$(git rev-parse HEAD)" --build-arg CREATED="$(git show -s --format=%cI)" .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETARCH
WORKDIR /source
COPY . .
RUN changed="$(git status --porcelain)" && test -z "$changed" || { echo "commit or remove these changes: $changed" >&2; exit 1; }
RUN CGO_ENABLED=0 GOOS=linux GOARCH=$TARGETARCH go build -trimpath -buildvcs=true -ldflags='-s -w' -o /image/usr/bin/rehearse ./cmd/rehearse
RUN mkdir -p /image/usr/share/sbom && go run ./internal/release bom /image/usr/bin/rehearse >/image/usr/share/sbom/rehearse.cdx.json \
 && install -D -m 644 LICENSE /image/usr/share/doc/rehearse/LICENSE
RUN mkdir -p /image/etc/ssl/certs && install -d -m 1777 /image/tmp && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
 && printf 'root:x:0:0:root:/:/sbin/nologin\nrehearse:x:65532:65532:rehearse:/tmp:/sbin/nologin\n' >/image/etc/passwd \
 && printf 'root:x:0:\nrehearse:x:65532:\n' >/image/etc/group

FROM scratch
ARG VERSION
ARG REVISION
ARG CREATED
LABEL org.opencontainers.image.title="Rehearse" \
      org.opencontainers.image.description="Rehearses upgrades, rollbacks and rejections on real Kubernetes components" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="https://github.com/rehearse-dev/rehearse"
COPY --from=build /image/ /
ENV PATH=/usr/bin HOME=/tmp XDG_CACHE_HOME=/tmp/.cache REHEARSE_KUBERNETES=/usr/share/rehearse
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["/usr/bin/rehearse"]
