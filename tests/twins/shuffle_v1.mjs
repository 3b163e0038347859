// Shuffle v1 as a game client would write it, from the definition only; it shares no code with the Python one.
// Reads one request per line and answers each with the deal in notation:
//   deal NUMBER
//   daily DATE ATTEMPT [KEY as 64 hex digits]
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const WORDS = 0x100000000;
const RANKS = "A23456789TJQK";
const SUITS = "CDHS";

const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

function* words(seed) {
  const counter = Buffer.alloc(4);
  for (let block = 0; ; block += 1) {
    counter.writeUInt32BE(block);
    const digest = sha256(Buffer.concat([seed, counter]));
    for (let offset = 0; offset < digest.length; offset += 4) yield digest.readUInt32BE(offset);
  }
}

function shuffled(seed) {
  const deck = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  const source = words(seed);
  for (let place = deck.length - 1; place >= 1; place -= 1) {
    const size = place + 1;
    let word = source.next().value;
    while (word >= WORDS - (WORDS % size)) word = source.next().value;
    const other = word % size;
    [deck[place], deck[other]] = [deck[other], deck[place]];
  }
  return deck;
}

function notation(deck) {
  const ends = [0, 5, 10, 15, 20, 25, 30, 35, 36, 52];
  return ends.slice(1).map((end, group) => deck.slice(ends[group], end).join(" ")).join(" | ");
}

function answer(request) {
  const [kind, ...rest] = request.split(" ");
  if (kind === "deal") {
    // Numbers go to 2^63 - 1: a double would round them, a BigInt does not.
    return notation(shuffled(sha256(`fairway deal v1 ${BigInt(rest[0])}`)));
  }
  const [date, attempt, key] = rest;
  const text = `fairway daily v1 ${date} ${BigInt(attempt)}`;
  return notation(shuffled(key ? createHmac("sha256", Buffer.from(key, "hex")).update(text).digest() : sha256(text)));
}

const requests = readFileSync(0, "ascii").split("\n").filter(Boolean);
process.stdout.write(requests.map((request) => `${answer(request)}\n`).join(""));
