/** Raw requests against one bucket, free of any client. */
export class Wire {
  readonly #server: string;
  readonly bucket: string;

  constructor(server: string, bucket: string) {
    this.#server = server;
    this.bucket = bucket;
  }

  in(bucket: string): Wire {
    return new Wire(this.#server, bucket);
  }

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#server}${path.replace("BUCKET", this.bucket)}`, init);
  }

  insert(name: string, body: string, query = "", metadata: Record<string, unknown> = {}): Promise<Response> {
    const parts = [
      `--b\r\nContent-Type: application/json\r\n\r\n${JSON.stringify({ name, ...metadata })}\r\n`,
      `--b\r\nContent-Type: application/octet-stream\r\n\r\n${body}\r\n--b--`,
    ];
    return this.ask(`/upload/storage/v1/b/BUCKET/o?uploadType=multipart${query}`, {
      method: "POST",
      headers: { "content-type": "multipart/related; boundary=b" },
      body: parts.join(""),
    });
  }

  object(name: string, query = "", init?: RequestInit): Promise<Response> {
    return this.ask(`/storage/v1/b/BUCKET/o/${encodeURIComponent(name)}${query}`, init);
  }

  async list(query: string): Promise<{ items?: { name: string }[]; prefixes?: string[]; nextPageToken?: string }> {
    return (await (await this.ask(`/storage/v1/b/BUCKET/o?${query}`)).json()) as object;
  }
}
