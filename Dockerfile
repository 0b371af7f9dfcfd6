FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY gen gen
COPY scripts scripts
COPY src src
COPY web web
RUN npm run build
# Only what runs: no tools, no ONNX runtime for browsers or other systems (some 360 MB).
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/onnxruntime-web \
    node_modules/onnxruntime-node/bin/napi-v*/darwin \
    node_modules/onnxruntime-node/bin/napi-v*/win32

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
# Before VOLUME, which freezes the folder's owner.
RUN install -d -o node -g node /data
COPY LICENSE package.json ./
COPY models models
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
VOLUME /data
# The user `node`, by number: Kubernetes' runAsNonRoot cannot judge a name.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
