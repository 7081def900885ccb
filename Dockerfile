# One image, several processes: the command decides (API, worker, or a command of the CLI).
# The embedded PostgreSQL is left out; compose brings databases of its own.
# An own mirror or a newer Node: docker build --build-arg BASE=registry.example.com/node:24-bookworm-slim .
ARG BASE=node:24-bookworm-slim
FROM ${BASE} AS build
WORKDIR /app
# Compiling happens below, once the sources are there; `prepare` would do it too early.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=optional
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY migrations ./migrations
COPY bench ./bench
COPY src ./src
RUN npm run -s build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM ${BASE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY experiments ./experiments
COPY LICENSE ./
USER node
EXPOSE 3000
CMD ["node", "dist/src/main.js"]
