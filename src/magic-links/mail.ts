import { Socket } from 'node:net';

import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';

import { RefusedError } from '../errors.ts';
import { escapeHtml } from './page.ts';
import { LINK_LIFETIME_MINUTES, type LinkOutlet } from './service.ts';

/** How long the mail server may take over each step, and over all of them. */
const STEP_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 15_000;

const TRANSPORT = {
  connectionTimeout: STEP_TIMEOUT_MS,
  greetingTimeout: STEP_TIMEOUT_MS,
  dnsTimeout: STEP_TIMEOUT_MS,
  socketTimeout: STEP_TIMEOUT_MS,
  disableFileAccess: true,
  disableUrlAccess: true,
};

/** How many mails one process hands over at once; more are refused, as if the server were down. */
const MAX_IN_FLIGHT = 50;

/** There is no such mailbox, or there can be none (RFC 5321, 4.2.3). */
const BAD_ADDRESS: ReadonlySet<unknown> = new Set([501, 550, 551, 553]);

interface MailerOptions {
  /** `smtp://` or `smtps://`; without one, no mail can be sent. */
  smtpUrl: string | undefined;
  /** The address that mails come from. */
  from: string;
  log: Logger;
}

/** Mails magic links by a mail server, as text and HTML, in the name of the brand. */
export function createLinkMailer({ smtpUrl, from, log }: MailerOptions): LinkOutlet['sendLink'] {
  if (smtpUrl === undefined) {
    return async () => {
      const message =
        'No mail server is configured: the operator sets SMTP_URL, or has links returned.';
      throw new RefusedError({ code: 'MAIL_UNAVAILABLE', field: null, message });
    };
  }
  let inFlight = 0;
  return async ({ to, brandName, url }) => {
    if (inFlight >= MAX_IN_FLIGHT) throw mailUnavailable();
    inFlight += 1;
    // Its own, so that it can be ended: nodemailer would keep up one that drips for ever.
    const socket = new Socket();
    const deadline = setTimeout(() => socket.destroy(), TOTAL_TIMEOUT_MS);
    const transport = createTransport({ ...TRANSPORT, url: smtpUrl, socket });
    const mail = {
      from: { name: brandName, address: from },
      // As an object, so that it is one address whatever stands in it.
      to: { name: '', address: to },
      subject: `Sign in to ${brandName}`,
      ...formatBody(brandName, url),
      // Not to be answered by a vacation notice (RFC 3834).
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
    try {
      await transport.sendMail(mail);
      // Time for a good-bye.
      setTimeout(() => socket.destroy(), STEP_TIMEOUT_MS).unref();
    } catch (error) {
      socket.destroy();
      // Never the message: the address may stand in it.
      const { code, command, responseCode } = error as Record<string, unknown>;
      log.warn({ code, command, responseCode }, 'a magic link could not be mailed');
      throw toRefusal(error);
    } finally {
      clearTimeout(deadline);
      inFlight -= 1;
    }
  };
}

function formatBody(brandName: string, url: string): { text: string; html: string } {
  const rule = `It works once, and for ${LINK_LIFETIME_MINUTES} minutes.`;
  const ignore = 'If you did not ask for it, you can ignore this message.';
  const [name, href] = [escapeHtml(brandName), escapeHtml(url)];
  return {
    text: `Open this link to sign in to ${brandName}. ${rule}\n\n${url}\n\n${ignore}\n`,
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in to ${name}</title></head>
<body>
<p>Open this link to sign in to ${name}. ${rule}</p>
<p><a href="${href}">Sign in to ${name}</a></p>
<p>${ignore}</p>
</body>
</html>
`,
  };
}

/** The server refused this address for good, or else it could not be reached or was not willing. */
function toRefusal(error: unknown): RefusedError {
  const { command, responseCode } = error as { command?: unknown; responseCode?: unknown };
  if (command === 'RCPT TO' && BAD_ADDRESS.has(responseCode)) {
    const message = 'The mail server refuses this address.';
    return new RefusedError({ code: 'INVALID', field: ['email'], message });
  }
  return mailUnavailable();
}

function mailUnavailable(): RefusedError {
  const message = 'The mail server did not take the message. Nothing was changed; try again.';
  return new RefusedError({ code: 'MAIL_UNAVAILABLE', field: null, message });
}
