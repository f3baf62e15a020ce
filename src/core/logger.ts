/** How much a line matters; the names Cloud Logging reads from JSON lines. */
export type Severity = "DEBUG" | "INFO" | "WARNING" | "ERROR";

/** Values that vary from line to line; the message itself is constant text. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go. Replace it to send them elsewhere. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** How {@link createLogger} writes. */
export interface LoggerOptions {
  /** Receives whole lines, newline included. */
  readonly write: (line: string) => void;
  /** JSON lines for machines, or a readable line for a terminal. */
  readonly format: "json" | "pretty";
  /** @default "INFO" */
  readonly level?: Severity;
  readonly now: () => number;
  /** Added to every line. */
  readonly fields?: LogFields;
}

const order: readonly Severity[] = ["DEBUG", "INFO", "WARNING", "ERROR"];

/** The default logger: one line per message, written at once. */
export function createLogger(options: LoggerOptions): Logger {
  const lowest = order.indexOf(options.level ?? "INFO");
  const log = (severity: Severity, message: string, fields: LogFields = {}) => {
    if (order.indexOf(severity) < lowest) return;
    const all = { ...options.fields, ...fields };
    options.write(
      options.format === "json"
        ? `${JSON.stringify({ severity, time: new Date(options.now()).toISOString(), message, ...flattenErrors(all) })}\n`
        : prettyLine(severity, message, all),
    );
  };
  return {
    debug: (message, fields) => log("DEBUG", message, fields),
    info: (message, fields) => log("INFO", message, fields),
    warn: (message, fields) => log("WARNING", message, fields),
    error: (message, fields) => log("ERROR", message, fields),
    child: (fields) => createLogger({ ...options, fields: { ...options.fields, ...fields } }),
  };
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};

function flattenErrors(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
  );
}

function prettyLine(severity: Severity, message: string, fields: LogFields): string {
  const prefix =
    severity === "INFO" ? "" : severity === "DEBUG" ? "debug: " : severity === "WARNING" ? "warning: " : "error: ";
  const rest = Object.entries(flattenErrors(fields))
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([key, value]) =>
        `${key}=${typeof value === "string" ? (/[\s"]/.test(value) ? JSON.stringify(value) : value) : JSON.stringify(value)}`,
    )
    .join(" ");
  return `outlast: ${prefix}${message}${rest ? `  ${rest}` : ""}\n`;
}
