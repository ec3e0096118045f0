// Passkeys are judged as the @simplewebauthn/server package judges them, whatever is changed in what a browser sends.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { type Credential, verifyAssertion, verifyRegistration } from '../../src/administrators/passkey.ts';
import { Authenticator, KEY_KINDS } from '../support/authenticator.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS ?? 1000);
const EXPECTED = {
  rpId: 'review.shop.example',
  origin: 'https://review.shop.example',
  challenge: 'Y2hhbGxlbmdl',
};
const THEIRS = {
  expectedChallenge: EXPECTED.challenge,
  expectedOrigin: EXPECTED.origin,
  expectedRPID: EXPECTED.rpId,
  requireUserVerification: false,
};

/** What `work` gives, or the error that it throws. */
async function outcome<T>(work: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    return error as Error;
  }
}

const theirRegistration = (sent: unknown) =>
  outcome(async () => {
    const response = sent as RegistrationResponseJSON;
    const options = { ...THEIRS, response, supportedAlgorithmIDs: [-8, -7, -257] };
    const { verified, registrationInfo } = await verifyRegistrationResponse(options);
    if (!verified) throw new Error('not verified');
    const { id, publicKey, counter } = registrationInfo.credential;
    return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
  });

const theirAssertion = (sent: unknown, { id, publicKey, counter }: Credential) =>
  outcome(async () => {
    const credential = { id, counter, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')) };
    const response = sent as AuthenticationResponseJSON;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...THEIRS,
      response,
      credential,
    });
    if (!verified) throw new Error('not verified');
    return authenticationInfo.newCounter;
  });

/** The bytes with a few changed at or behind `from`, or some fewer, or some more. */
function changed(bytes: Buffer, from: number, random: SeededRandom): Buffer {
  const copy = Buffer.from(bytes);
  const way = random.between(0, 9);
  if (way === 0) return copy.subarray(0, from + random.between(0, copy.length - from - 1));
  if (way === 1) return Buffer.concat([copy, Buffer.alloc(random.between(1, 4), random.between(0, 255))]);
  for (let i = 0; i <= random.between(0, 2); i++)
    copy[from + random.between(0, copy.length - from - 1)] = random.between(0, 255);
  return copy;
}

for (const kind of KEY_KINDS) {
  test(`a ${kind} passkey is taken, and its signature once`, async () => {
    const device = new Authenticator(kind);
    const made = verifyRegistration(device.register(EXPECTED), EXPECTED);
    const { transports, ...compared } = made;
    assert.deepEqual(transports, ['usb']);
    assert.deepEqual(await theirRegistration(device.register(EXPECTED)), compared);
    const signed = device.sign(EXPECTED);
    assert.equal(verifyAssertion(signed, EXPECTED, made), 1);
    assert.equal(await theirAssertion(signed, made), 1);
    assert.throws(() => verifyAssertion(signed, EXPECTED, { ...made, counter: 1 }), /did not grow/);
    const another = verifyRegistration(new Authenticator(kind).register(EXPECTED), EXPECTED);
    assert.throws(() => verifyAssertion(device.sign(EXPECTED), EXPECTED, another), /signature is wrong/);
  });

  test(`a ${kind} passkey for another request, site or page is refused`, async () => {
    const made = verifyRegistration(new Authenticator(kind).register(EXPECTED), EXPECTED);
    const others = [
      { challenge: 'b3RoZXI' },
      { origin: 'https://other.example' },
      { rpId: 'other.example' },
      { origin: 'http://review.shop.example' },
    ];
    for (const other of others) {
      const device = new Authenticator(kind);
      const elsewhere = { ...EXPECTED, ...other };
      assert.throws(() => verifyRegistration(device.register(elsewhere), EXPECTED), /for another/);
      assert.throws(() => verifyAssertion(device.sign(elsewhere), EXPECTED, made), /for another/);
      assert.throws(() => verifyRegistration(device.sign(EXPECTED), EXPECTED));
      assert.throws(() => verifyAssertion(device.register(EXPECTED), EXPECTED, made));
    }
  });
}

/** What a browser sends, with other client data or another attestation object. */
function altered(
  client: object,
  attestation: (object: Buffer, at: number) => Buffer = (object) => object,
): unknown {
  const sent = new Authenticator().register(EXPECTED) as RegistrationResponseJSON;
  const { clientDataJSON, attestationObject } = sent.response;
  const data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
  const object = Buffer.from(attestationObject, 'base64url');
  const at = object.indexOf(createHash('sha256').update(EXPECTED.rpId).digest());
  const response = {
    clientDataJSON: Buffer.from(JSON.stringify({ ...data, ...client })).toString('base64url'),
    attestationObject: attestation(object, at).toString('base64url'),
  };
  return { ...sent, response };
}

test('a passkey made by another ceremony, in a frame, by nobody, or with bytes behind it is refused', () => {
  const flagged = (flags: number) => (object: Buffer, at: number) => {
    object[at + 32] = flags;
    return object;
  };
  const longer = (object: Buffer, at: number) => {
    object[at - 1]! += 1; // the length of the authenticator data
    return Buffer.concat([object, Buffer.from([0])]);
  };
  verifyRegistration(altered({}), EXPECTED);
  verifyRegistration(altered({}, flagged(0x41 | 0x18)), EXPECTED);
  for (const [sent, message] of [
    [altered({ type: 'webauthn.get' }), /another request/],
    [altered({ crossOrigin: true }), /crossOrigin/],
    [altered({ topOrigin: 'https://other.example' }), /topOrigin/],
    [altered({}, flagged(0x44)), /The user was not present/],
    [altered({}, flagged(0x41 | 0x10)), /backup flags/],
    [altered({}, flagged(0x01)), /no credential|another length/],
    [altered({}, longer), /another length/],
  ] as const)
    assert.throws(() => verifyRegistration(sent, EXPECTED), message);
});

test('what is taken with bytes changed is what the other package takes; what is refused is refused by both', async () => {
  const random = new SeededRandom();
  const hash = createHash('sha256').update(EXPECTED.rpId).digest();
  const counts = { taken: 0, refused: 0, stricter: 0 };
  for (let run = 0; run < RUNS; run++) {
    const kind = KEY_KINDS[run % 2]!; // RSA keys take long to make
    const sent = new Authenticator(kind).register(EXPECTED) as RegistrationResponseJSON;
    const attestation = Buffer.from(sent.response.attestationObject, 'base64url');
    const at = attestation.indexOf(hash);
    const bytes = changed(attestation, random.chance(0.5) ? at + hash.length : at - 3, random);
    const response = { ...sent.response, attestationObject: bytes.toString('base64url') };
    const mutant = { ...sent, response };
    const ours = await outcome(() => verifyRegistration(mutant, EXPECTED));
    const theirs = await theirRegistration(mutant);
    const label = `seed ${random.seed}, run ${run}: ${ours} / ${theirs}`;
    if (!(ours instanceof Error)) {
      assert.ok(!(theirs instanceof Error), label);
      assert.deepEqual([ours.id, ours.counter], [theirs.id, theirs.counter], label);
      counts.taken++;
    } else if (theirs instanceof Error) counts.refused++;
    else {
      // The other package takes wrong lengths at the end, and looks at the key when it is first used.
      const stricter = /whole stream|another length|of another kind|CBOR byte string|Invalid JWK|key/i;
      assert.match(ours.message, stricter, label);
      counts.stricter++;
    }
  }
  assert.ok(counts.taken > RUNS / 20 && counts.refused > RUNS / 4, JSON.stringify(counts));
});

test('a signed answer with any byte changed is refused', async () => {
  const random = new SeededRandom();
  for (const kind of KEY_KINDS) {
    const device = new Authenticator(kind);
    const made = verifyRegistration(device.register(EXPECTED), EXPECTED);
    const sent = device.sign(EXPECTED) as AuthenticationResponseJSON;
    for (const field of ['authenticatorData', 'clientDataJSON', 'signature'] as const)
      for (let at = 0; at < Buffer.from(sent.response[field], 'base64url').length; at++) {
        const bytes = Buffer.from(sent.response[field], 'base64url');
        bytes[at]! ^= random.between(1, 255);
        const response = { ...sent.response, [field]: bytes.toString('base64url') };
        const verdict = await outcome(() => verifyAssertion({ ...sent, response }, EXPECTED, made));
        assert.ok(verdict instanceof Error, `${kind}, ${field}, byte ${at}, seed ${random.seed}`);
      }
  }
});
