# The bases by argument, so that a mirror, a digest or one's own can stand in.
ARG NODE_IMAGE=docker.io/library/node:24-trixie-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY cli cli
COPY clients/typescript/src clients/typescript/src
COPY gen gen
COPY models models
COPY scripts scripts
COPY src src
COPY web web
# The pages at /docs are made of these.
COPY docs docs
COPY deploy deploy
COPY eval/README.md eval/
COPY examples examples
COPY proto proto
COPY clients/python/LICENSE clients/python/README.md clients/python/
COPY clients/typescript/LICENSE clients/typescript/README.md clients/typescript/package.json clients/typescript/tsconfig.json clients/typescript/tsconfig.cjs.json clients/typescript/
COPY ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md compose.yaml server.json ./
RUN npm run build
# Only what is ever loaded, and what it is made of.
RUN node scripts/production-tree.js /app && node scripts/sbom.js > /app/sbom.cdx.json

# Not Node's image: npm, yarn and headers have no business in a server.
FROM ${DEBIAN_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="recalld" \
  org.opencontainers.image.description="A semantic memory service: store short texts, recall them by meaning" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# The folder before VOLUME, which freezes its owner. The version shows that Node finds its libraries.
RUN install -d -o 1000 -g 1000 -m 700 /data && node --version
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app ./
RUN chmod +x dist/src/admin.js && ln -s /app/dist/src/admin.js /usr/local/bin/recalld-admin
VOLUME /data
# By number: Kubernetes' runAsNonRoot cannot judge a name. Nothing but /data is written to.
USER 1000:1000
EXPOSE 8080
# As long as a start may take: an embedding thread has two minutes, and a model may have to be downloaded.
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s CMD ["node", "health.js"]
# No init in front: it ends on SIGTERM by itself, and starts threads only, so there is nothing to reap.
CMD ["node", "dist/src/main.js"]
