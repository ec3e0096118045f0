#!/usr/bin/env node
// Checks an export of a history (docs/audit-format.md) with nothing of Counterfoil's: any Node from 20 on, and this file alone.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

class Broken extends Error {}
function must(holds, problem) {
  if (!holds) throw new Broken(problem);
}
const isNumber = (value) => Number.isSafeInteger(value) && value >= 0;
const isText = (value) => typeof value === 'string';
/** A line has the members of `value` in this order, once, and nothing else. */
function mustBe(text, value) {
  must(text === JSON.stringify(value), 'it is not written as an export is');
}
/** What has been read so far, and so what must come next. */
const state = { line: 0, entry: 0, seal: 0, hash: '', checkpoints: 0, acknowledged: 0, ended: false };
/** Checkpoints stand behind all seals, in their order: seals are read again beside them, and none is kept. */
const again = {};
let header, open, newest, key, keyName;

function readHeader(value, text) {
  header = value;
  const { format, version, entries, seals, first_entry, first_seal, hash_before, exported_at } = header;
  must(format === 'counterfoil audit export' && version === 1, 'it is no export of version 1');
  mustBe(text, { format, version, entries, seals, first_entry, first_seal, hash_before, exported_at });
  must([exported_at, hash_before].every(isText), 'its header lacks something');
  must([first_entry, first_seal].every(isNumber) && first_seal > 0, 'it begins nowhere');
  const isWhole = first_seal === 1;
  must(isWhole === (hash_before === '') && isWhole === (first_entry === 1), 'it begins in the middle');
  Object.assign(state, { entry: first_entry - 1, seal: first_seal - 1, hash: hash_before });
  Object.assign(again, { seal: state.seal, told: `${hash_before} ${state.entry}` });
}

function openSeal({ seal, first_entry, last_entry, at, hash }, text) {
  closeSeal();
  mustBe(text, { seal, first_entry, last_entry, at, hash });
  must(isNumber(last_entry) && isNumber(at) && isText(hash), 'it is no seal');
  must(key === undefined, 'a seal stands behind the key');
  must(seal === state.seal + 1, `seal ${state.seal + 1} is missing`);
  must(first_entry === state.entry + 1, `seal ${seal} does not begin at entry ${state.entry + 1}`);
  must(last_entry >= first_entry, `seal ${seal} holds no entry`);
  const first = JSON.stringify(['counterfoil seal', seal, state.hash, first_entry, last_entry, at]);
  open = { seal, first_entry, last_entry, hash, sum: createHash('sha256').update(`${first}\n`) };
}

function addEntry(entry, text) {
  const [number] = entry;
  must(entry.length === 7, 'it is no entry');
  must(open && number <= open.last_entry, `entry ${number} stands behind its seal`);
  must(number === state.entry + 1, `entry ${state.entry + 1} is missing`);
  open.sum.update(`${text}\n`);
  state.entry = number;
  if (entry[3] === 'history.acknowledged') state.acknowledged++;
}

/** Ends the seal whose entries were being read. */
function closeSeal() {
  if (!open) return;
  const { seal, first_entry, last_entry, hash, sum } = open;
  must(state.entry === last_entry, `entry ${state.entry + 1} is missing`);
  const matches = sum.digest('base64url') === hash;
  must(matches, `seal ${seal} does not match entries ${first_entry} to ${last_entry}`);
  Object.assign(state, { seal, hash });
  open = undefined;
}

/** The one Ed25519 public key in a PEM text. */
function parseKey(pem) {
  const read = createPublicKey(pem);
  const isOne = read.export({ type: 'spki', format: 'pem' }).trim() === pem.replaceAll('\r\n', '\n').trim();
  if (!isOne || read.asymmetricKeyType !== 'ed25519')
    throw new Error('the key is not one Ed25519 public key');
  return read;
}

function readKey(pem, text, given) {
  closeSeal();
  must(key === undefined, 'a second key');
  mustBe(text, { public_key: pem });
  const isWhole = header.entries === state.entry && header.seals === state.seal;
  must(isWhole, `of ${header.entries} entries it has ${state.entry}, of ${header.seals} seals ${state.seal}`);
  try {
    key = pem === null ? null : parseKey(pem);
  } catch {
    throw new Broken('the key is none');
  }
  must(!given || !key || given.equals(key), 'the key inside is another than the one given');
  const der = key?.export({ type: 'spki', format: 'der' });
  keyName = der && createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/** Whether seal `number`, read again, is as `told`; one that is not here may be. */
async function isSealed(number, told) {
  while (again.seal < number) {
    const { value: text, done } = await again.lines.next();
    must(!done, 'the file is no longer what it was; a pipe cannot be read twice');
    const { seal, hash, last_entry } = text.startsWith('[') ? {} : JSON.parse(text);
    if (seal) Object.assign(again, { seal, told: `${hash} ${last_entry}` });
  }
  return again.seal !== number || again.told === told;
}

async function readCheckpoint(checkpoint, text) {
  must(key, 'there is no key for the checkpoints');
  const { seal, last_entry, hash, signed_at, key: by, signature } = checkpoint ?? {};
  mustBe(text, { checkpoint: { seal, last_entry, hash, signed_at, key: by, signature } });
  const isOne = [hash, signed_at, by, signature].every(isText);
  must(isOne && isNumber(seal) && isNumber(last_entry), 'it is no checkpoint');
  const which = `the checkpoint of seal ${seal}, signed at ${signed_at},`;
  must(by === keyName, `${which} is signed with another key`);
  const signed = `counterfoil checkpoint\n${seal}\n${last_entry}\n${hash}\n${signed_at}\n${by}\n`;
  const bytes = Buffer.from(signature, 'base64url');
  const isPlain = bytes.toString('base64url') === signature; // its last digit has bits to spare
  must(isPlain && verify(null, Buffer.from(signed), key, bytes), `${which} has a wrong signature`);
  must(!newest || seal >= newest.seal, `${which} stands out of order`);
  const same = !newest || (newest.hash === hash && newest.last_entry === last_entry);
  must(same || seal > newest.seal, `${which} contradicts the one before`);
  must(seal <= state.seal, `${which} vouches for more than is here: the end is cut off`);
  must(await isSealed(seal, `${hash} ${last_entry}`), `${which} vouches for another seal`);
  newest = checkpoint;
  state.checkpoints++;
}

function readLine(text, given) {
  state.line++;
  must(!state.ended, 'it stands behind the end');
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Broken('it is not JSON');
  }
  must(typeof value === 'object' && value !== null, 'it is no line of an export');
  if (!header) return readHeader(value, text);
  if (Array.isArray(value)) return addEntry(value, text);
  if ('seal' in value) return openSeal(value, text);
  if ('public_key' in value) return readKey(value.public_key, text, given);
  if ('checkpoint' in value) return readCheckpoint(value.checkpoint, text);
  mustBe(text, { checkpoints: value.checkpoints });
  must(key !== undefined && value.checkpoints === state.checkpoints, 'checkpoints are missing');
  state.ended = true;
}

/** The lines of a file, a piece in memory at a time. Only a line feed ends one; what has none is no line. */
async function* linesOf(file) {
  let rest = '';
  for await (const piece of createReadStream(file, 'utf8')) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  must(rest === '', 'the end is cut off');
}

try {
  const { values, positionals } = parseArgs({ options: { key: { type: 'string' } }, allowPositionals: true });
  if (positionals.length !== 1)
    throw new Error('usage: node verify-export.js export.ndjson [--key checkpoint-key.pub.pem]');
  const given = values.key && parseKey(readFileSync(values.key, 'utf8'));
  again.lines = linesOf(positionals[0]);
  for await (const line of linesOf(positionals[0])) await readLine(line, given);
  must(state.ended, 'the end is cut off');
  const { entries, seals, first_entry: first } = header;
  const trust = first > 1 ? `; entries before ${first} are taken on trust` : '';
  const signed = `${state.checkpoints} ${state.checkpoints === 1 ? 'checkpoint' : 'checkpoints'} by the key ${given ? 'given' : 'inside'}`;
  const { acknowledged } = state;
  const known = acknowledged > 0 ? `; ${acknowledged} acknowledged fault${acknowledged > 1 ? 's' : ''}` : '';
  console.log(`Verified: ${entries} entries, ${seals} seals, ${signed}${trust}${known}.`);
} catch (error) {
  const isBroken = error instanceof Broken;
  console.log(isBroken ? `Broken in line ${state.line}: ${error.message}.` : error.message);
  process.exitCode = isBroken ? 1 : 2;
}
await again.lines?.return();
