import { assertEquals, assertRejects } from "@std/assert";
import { addressKind, hostKind, NotPublicError, publicAddresses } from "../../src/wire/address.ts";

const KINDS = {
  public: [
    ...["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"],
    ...["169.253.0.1", "192.0.1.0", "192.169.0.0", "198.17.0.1", "198.20.0.0", "223.255.255.255"],
    ...["2606:4700::1111", "2a00:1450:4001::8", "2001:200::1", "::ffff:8.8.8.8"],
    "64:ff9b::808:808",
  ],
  private: [
    ...["127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ...["100.64.0.1", "100.127.255.255", "100.100.100.200", "::1", "fc00::1", "fd12:3456::1"],
    // The same in other notations.
    ...["0x7f.1", "2130706433", "017700000001", "127.1", "0x7f000001", "127.0.0.1."],
    ...["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a00:1", "0:0:0:0:0:0:0:1"],
    ...["64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "FD00::1"],
  ],
  reserved: [
    ...["0.0.0.0", "0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "192.0.0.192", "192.0.2.1"],
    ...["192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.9", "224.0.0.1"],
    ...["239.1.2.3", "240.0.0.1", "255.255.255.255", "168.63.129.16", "0xa9fea9fe"],
    ...["::", "::2", "fe80::1", "febf::1", "fec0::1", "ff02::1", "2001::1", "2001:db8::1"],
    ...["2002:7f00:1::", "2002:808:808::", "3fff::1", "64:ff9b:1::1", "::7f00:1", "::8.8.8.8"],
    ...["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "100::1", "4000::1"],
    // What is no address at all.
    ...["", "localhost", "example.org", "fe80::1%eth0", "1.2.3.4.5", "1.1.1.1/24", "1.1.1.1:80"],
    ...["a@1.1.1.1", "[::1]", ":::1", "1.1.1.1 ", "256.1.1.1", "99999999999"],
  ],
} as const;

Deno.test("the kind of an address, in each notation", () => {
  for (const [kind, addresses] of Object.entries(KINDS)) {
    const found = addresses.map((address) => [address, addressKind(address)]);
    assertEquals(found, addresses.map((address) => [address, kind]));
  }
});

Deno.test("the kind of a host of a URL, as its parser writes it", () => {
  const hosts = {
    private: "0x7f.1 2130706433 017700000001 127.0.0.1. １２７。0.0.1 [::ffff:127.0.0.1] " +
      "localhost LOCALHOST a.localhost",
    reserved: "[::] 0 169.254.169.254",
    public: "1.1.1.1 [2606:4700::1111]",
    name: "example.org notlocalhost 127.0.0.1.nip.io",
  };
  for (const [kind, names] of Object.entries(hosts)) {
    for (const name of names.split(" ")) {
      assertEquals(hostKind(new URL(`http://${name}/`).hostname), kind, name);
    }
  }
});

const { signal } = new AbortController();
const answers = (a: string[], aaaa: string[]) => (_: string, type: "A" | "AAAA") =>
  Promise.resolve(type === "A" ? a : aaaa);

Deno.test("the addresses of a name: all must be public, IPv4 comes first", async () => {
  const found = await publicAddresses("x", signal, answers(["1.1.1.1"], ["2606:4700::1111"]));
  assertEquals(found, ["1.1.1.1", "2606:4700::1111"]);
  const rows: [a: string[], aaaa: string[]][] = [
    [["127.0.0.1"], []],
    [["1.1.1.1", "10.0.0.1"], []],
    [["1.1.1.1"], ["::1"]],
    [[], ["::ffff:10.0.0.1"]],
    [["169.254.169.254"], []],
  ];
  for (const row of rows) {
    await assertRejects(() => publicAddresses("x", signal, answers(...row)), NotPublicError);
  }
});

Deno.test("a name without addresses, and name servers that do not answer", async () => {
  const failing = (error: Error) => () => Promise.reject(error);
  const none = failing(new Deno.errors.NotFound("proto error"));
  await assertRejects(() => publicAddresses("x", signal, none), Error, "no host has that name");
  const late = failing(new Deno.errors.TimedOut("late"));
  await assertRejects(() => publicAddresses("x", signal, late), Error, "DNS lookup failed");
  await assertRejects(() => publicAddresses("x", signal, answers([], [])), Error, "DNS lookup");
  // One kind of address is enough.
  const half = (_: string, type: "A" | "AAAA") =>
    type === "A" ? Promise.resolve(["1.1.1.1"]) : none();
  assertEquals(await publicAddresses("x", signal, half), ["1.1.1.1"]);
});
