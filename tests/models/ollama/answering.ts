/**
 * The options of a server that answers by path and query, with 404 for all others. `asked` gets each method and path
 * but for "GET ".
 */
export function answering(answers: Record<string, unknown>, asked: string[] = []) {
  const fetch = (url: string | URL | Request, { method = "GET" }: RequestInit = {}) => {
    const { pathname, search } = new URL(String(url));
    asked.push(`${method} ${pathname}${search}`.replace("GET ", ""));
    const found = answers[pathname + search];
    const missing = () => new Response("", { status: 404 });
    return Promise.resolve(found === undefined ? missing() : Response.json(found));
  };
  return { host: "http://localhost:1", fetch };
}
