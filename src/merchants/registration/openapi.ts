// What the OpenAPI document says of /register, built from the schemas that check requests and shape answers.
import { ALWAYS, type Description, failures, json, jsonSchema, ref, success } from '../../web/openapi.ts';
import { registrationAnswerSchema } from './present.ts';
import { registrationRequestSchema } from './request.ts';

export const registrationDescription = (): Description => ({
  paths: {
    '/register': {
      post: {
        operationId: 'register',
        summary: 'Register as a merchant and get an API key',
        description:
          'Needs no key. Without an invitation the key makes test payments. The same address shows people a form. Without an invitation a business name that looks like that of another merchant or of a known brand is refused. An e-mail address that is known already changes nothing of the answer.',
        security: [],
        parameters: [
          {
            name: 'Prefer',
            in: 'header',
            description: '`handling=strict` refuses unknown fields (RFC 7240).',
            schema: { type: 'string' },
          },
        ],
        requestBody: { required: true, ...json(ref('Registration')) },
        responses: {
          201: success('Registered. The key is told in this answer alone.', 'RegistrationAnswer'),
          ...failures([
            ...ALWAYS,
            'invalid_json',
            'forbidden',
            'payload_too_large',
            'unsupported_media_type',
            'validation_failed',
            'rate_limited',
          ]),
        },
      },
    },
  },
  securitySchemes: {},
  schemas: {
    Registration: jsonSchema(registrationRequestSchema, 'input'),
    RegistrationAnswer: jsonSchema(registrationAnswerSchema, 'output'),
  },
});
