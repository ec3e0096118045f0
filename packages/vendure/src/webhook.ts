// The webhook endpoint: `POST /payments/counterfoil`, verified by the bytes that came.
import { verifyWebhook, WebhookVerificationError } from '@counterfoil/client';
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { Logger } from '@vendure/core';
import { Settlement } from './settlement.ts';
import { Shop } from './shop.ts';

/** The path of the endpoint. */
export const WEBHOOK_PATH = '/payments/counterfoil';
const BODY_MAXIMUM_BYTES = 64 * 1024;
/** Events whose work is done, remembered so that their repeats are answered without work. The order's payments are what counts. */
const HANDLED_MAXIMUM = 1000;

/** As much of Node's request as is used. */
interface RawRequest {
  headers: Record<string, string | string[] | undefined>;
  rawBody?: Buffer;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}
interface RawResponse {
  statusCode: number;
  end(): unknown;
}

/** Middleware that keeps a body as it came. It runs before Vendure parses bodies, and reads the request to its end. */
export function keepRawBody(request: RawRequest, response: RawResponse, next: () => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes <= BODY_MAXIMUM_BYTES) chunks.push(chunk);
  });
  request.on('end', () => {
    request.rawBody = Buffer.concat(chunks);
    if (bytes <= BODY_MAXIMUM_BYTES) return next();
    response.statusCode = 413;
    response.end();
  });
}

@Controller(WEBHOOK_PATH)
export class WebhookController {
  readonly #handled = new Set<string>();

  constructor(
    private readonly shop: Shop,
    private readonly settlement: Settlement,
  ) {}

  /** Answers 204 once the work is done, 400 for what Counterfoil did not sign; anything else makes Counterfoil send it again. */
  @Post()
  @HttpCode(204)
  async take(@Req() request: RawRequest, @Res({ passthrough: true }) response: RawResponse): Promise<void> {
    const { webhookSecret } = this.shop.options;
    const event = await verifyWebhook(request.rawBody ?? '', request.headers, webhookSecret).catch(
      (error) => {
        if (error instanceof WebhookVerificationError) return error;
        throw error;
      },
    );
    if (event instanceof WebhookVerificationError) {
      response.statusCode = 400;
      return Logger.warn(`A request to ${WEBHOOK_PATH} was refused: ${event.message}`, 'Counterfoil');
    }
    if (event.type !== 'payment.approved' || this.#handled.has(event.id)) return;
    await this.settlement.settle(await this.shop.client.payments.read(event.data.payment_id));
    this.#handled.add(event.id);
    if (this.#handled.size > HANDLED_MAXIMUM) this.#handled.delete(this.#handled.values().next().value!);
  }
}
