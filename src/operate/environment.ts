// The variables of the environment that the program reads.

/** The environment the program reads; every variable it knows. */
export interface Environment {
  COUNTERFOIL_CONFIG?: string | undefined;
  COUNTERFOIL_STORAGE?: string | undefined;
  COUNTERFOIL_RUN_BY?: string | undefined;
  COUNTERFOIL_SECRETS_KEY?: string | undefined;
  COUNTERFOIL_MAIL_PASSWORD?: string | undefined;
  DATABASE_URL?: string | undefined;
  /** Not `HOST`, which some shells set to the name of the machine. */
  LISTEN_HOST?: string | undefined;
  PORT?: string | undefined;
  CONSOLE_HOST?: string | undefined;
  CONSOLE_PORT?: string | undefined;
  ADMIN_HOST?: string | undefined;
  ADMIN_PORT?: string | undefined;
  METRICS_HOST?: string | undefined;
  METRICS_PORT?: string | undefined;
  NO_COLOR?: string | undefined;
  TERM?: string | undefined;
  /** Set by sshd: the person's browser is on another machine. */
  SSH_CONNECTION?: string | undefined;
  /** Node's own, which production refuses to weaken it by. */
  NODE_OPTIONS?: string | undefined;
  NODE_TLS_REJECT_UNAUTHORIZED?: string | undefined;
}

export const environment: Environment = process.env;
