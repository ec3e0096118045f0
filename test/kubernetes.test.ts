// deploy/kubernetes.yaml and the image of the Debian package, held to the program: what they name exists, and pods have no more than they need.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { parseConfiguration } from '../src/operate/config.ts';
import { ROOT } from './support/command.ts';
import { startHarness } from './support/harness.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: read as Kubernetes reads it
const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one) => one.toJS() as any);
const ofKind = (kind: string) => documents.filter((one) => one.kind === kind);
const [nodes] = ofKind('StatefulSet');
const pod = nodes.spec.template.spec;
const [container] = pod.containers;
const all = [...pod.initContainers, ...pod.containers];
const dockerfile = read('deploy/debian/Dockerfile');

test('the configuration is one of production, for as many nodes as there are', () => {
  const [{ data }] = ofKind('ConfigMap');
  const [{ stringData }] = ofKind('Secret');
  const configuration = parseConfiguration(data['counterfoil.yaml'], '/run/counterfoil.yaml', {
    DATABASE_URL: stringData.database_url,
  });
  assert.equal(configuration.environment, 'production');
  assert.equal(configuration.nodes, nodes.spec.replicas);
  assert.equal(configuration.port, container.ports[0].containerPort);
  assert.equal(configuration.host, '0.0.0.0');
  for (const { valueFrom } of container.env)
    if (valueFrom) assert.ok(valueFrom.secretKeyRef.key in stringData, valueFrom.secretKeyRef.key);
});

test('no container may become root, write its root, or use more memory than it is given', () => {
  assert.ok(pod.securityContext.runAsNonRoot);
  assert.equal(pod.automountServiceAccountToken, false);
  assert.match(dockerfile, new RegExp(`^USER ${pod.securityContext.runAsUser}:`, 'm'));
  for (const { securityContext, resources, image, volumeMounts } of all) {
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.ok(resources.limits.memory && resources.requests.cpu);
    assert.ok(image.endsWith(`/counterfoil:${packageJson.version}`), image);
    const volumes = [
      ...pod.volumes,
      ...nodes.spec.volumeClaimTemplates.map((one: { metadata: object }) => one.metadata),
    ];
    for (const { name } of volumeMounts)
      assert.ok(
        volumes.some((volume) => volume.name === name),
        name,
      );
  }
});

test('its selectors find the pods, and an eviction leaves one', () => {
  const { labels } = nodes.spec.template.metadata;
  const selectors = [
    nodes.spec.selector.matchLabels,
    ...ofKind('Service').map(({ spec }) => spec.selector),
    ...ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
    ...ofKind('NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels),
  ];
  assert.equal(selectors.length, 5);
  for (const selector of selectors) assert.deepEqual(selector, labels);
  assert.ok(ofKind('PodDisruptionBudget')[0].spec.minAvailable < nodes.spec.replicas);
  assert.ok(ofKind('Service').some(({ metadata }) => metadata.name === nodes.spec.serviceName));
});

test('its probes ask addresses that answer, and give a busy node the time that the runbook says', async () => {
  await using harness = await startHarness('sqlite');
  for (const probe of [container.startupProbe, container.readinessProbe]) {
    assert.equal((await harness.request(probe.httpGet.path, { key: null })).status, 200);
    assert.ok(probe.timeoutSeconds >= 5 && probe.failureThreshold >= 2);
  }
  assert.ok(pod.terminationGracePeriodSeconds > container.lifecycle.preStop.sleep.seconds + 10);
});

test('the image starts what npm start does, out of the package alone', () => {
  const [, options] = /node (.*) bin\/counterfoil\.js serve$/.exec(packageJson.scripts.start)!;
  const entry = parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!).join(' ');
  assert.equal(entry, `node ${options} /usr/lib/counterfoil/bin/counterfoil.js`);
  assert.deepEqual(dockerfile.match(/^(FROM|COPY|ADD) .*$/gm), [
    'FROM debian:stable-slim',
    'COPY counterfoil_*.deb /tmp/',
  ]);
});
