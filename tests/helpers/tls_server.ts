/** A server on loopback that speaks TLS as the host `pinned.test`. @module */

const pem = (name: string): string =>
  Deno.readTextFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** The authority that signed for the host. */
export const authority = (): string => pem("ca.pem");

/** Gives every client the same answer, byte for byte, and closes the connection. */
export function tlsServer(answer: string): AsyncDisposable & { port: number } {
  const listener = Deno.listenTls({ port: 0, cert: pem("pinned.pem"), key: pem("pinned.key") });
  const serving = (async () => {
    for await (const conn of listener) {
      try {
        await conn.read(new Uint8Array(4096));
        await conn.write(new TextEncoder().encode(answer));
        await conn.closeWrite();
      } catch {
        // A client that does not trust the certificate closes the connection.
      } finally {
        conn.close();
      }
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}
