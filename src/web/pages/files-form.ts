// Forms with files, as browsers send them (RFC 7578): read whole, their fields and their files apart.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationalError } from '../../lib/errors.ts';
import { phrase } from '../../lib/phrases.ts';

/** The fields of a form, and the files that came with it. */
export class FilesForm extends URLSearchParams {
  readonly files: readonly File[];

  constructor(fields: readonly (readonly [string, string])[], files: readonly File[]) {
    super(fields.map(([name, value]) => [name, value]));
    this.files = files;
  }
}

/** Makes `scope` read forms with files of at most `bodyLimit` bytes: `request.body` is then a `FilesForm`. */
export function readFilesForms(scope: FastifyInstance, bodyLimit: number): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit },
    async (request: FastifyRequest, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type']! };
      const form = await new Response(body, { headers }).formData().catch(() => {
        throw new OperationalError('bad_request', phrase('The form with files cannot be read.'));
      });
      const all = [...form];
      const fields = all.flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as const] : [],
      );
      // A field without a chosen file comes as one without a name.
      const files = all.flatMap(([, value]) =>
        typeof value === 'string' || value.name === '' ? [] : [value],
      );
      return new FilesForm(fields, files);
    },
  );
}
