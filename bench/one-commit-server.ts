// The service as it is, but for one thing: each request is a commit of its own.

import { createLogger } from '../src/lib/log.ts';
import { systemClock } from '../src/lib/time.ts';
import { configurationFile, readConfiguration } from '../src/operate/config.ts';
import { startService } from '../src/operate/main.ts';

const configuration = readConfiguration(configurationFile(undefined));
const service = await startService(configuration, {
  log: createLogger(configuration.log_level),
  clock: systemClock,
  onBroken: (error) => {
    throw error;
  },
  largestBatch: 1,
});
process.on('SIGTERM', async () => {
  await service.stop();
  process.exit(0);
});
