# Counterfoil as an image: Node 26, the sources as they are, production dependencies, and an account that owns none of them.
#   docker build -t counterfoil .
# compose.yaml runs it; docs/operating/install.md says how.

# compose.yaml sets it; .env pins it by digest.
ARG NODE_IMAGE=node:26-trixie-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/bank-statements/package.json ./packages/bank-statements/
COPY packages/client/package.json ./packages/client/
# No package's own script runs, and the image's own Node serves.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/.bin

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Counterfoil" \
      org.opencontainers.image.description="Self-hosted payment requests with a hosted checkout, human review and a history that cannot be edited unseen." \
      org.opencontainers.image.licenses="Apache-2.0"

# A number of its own, so that files on the host can be given to it. The package managers have nothing to do from here on.
RUN groupadd --gid 10001 counterfoil \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin counterfoil \
 && install -d -m 0700 -o 10001 -g 10001 /var/lib/counterfoil /etc/counterfoil /var/backups/counterfoil \
 && rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg

WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY docs/integrate ./docs/integrate
COPY CHANGELOG.md ./
COPY packages/bank-statements/package.json ./packages/bank-statements/
COPY packages/bank-statements/src ./packages/bank-statements/src
RUN ln -s /app/bin/counterfoil.js /usr/local/bin/counterfoil

# HEALTH_URL: with a base_url that has a path, that path stands before /health/ready; with tls set, it begins with https, and the
# certificate, which is for another name than 127.0.0.1, is not looked at on the way from this container to itself. A node that has too
# much to do answers late and is well: it is given 6 seconds.
ENV MALLOC_ARENA_MAX=1 \
    COUNTERFOIL_CONFIG=/etc/counterfoil/counterfoil.yaml \
    COUNTERFOIL_STORAGE=/var/lib/counterfoil \
    COUNTERFOIL_RUN_BY=compose \
    HEALTH_URL=http://127.0.0.1:8080/health/ready

USER 10001:10001
VOLUME /var/lib/counterfoil
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const url = new URL(process.env.HEALTH_URL), here = /^(127\\.|\\[::1\\]$|localhost$)/.test(url.hostname); require(url.protocol.slice(0, -1)).get(url, { rejectUnauthorized: !here }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=50", "/app/bin/counterfoil.js"]
CMD ["serve"]
