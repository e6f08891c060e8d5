#!/usr/bin/env node
// The arguments are one JSON document on standard input; the reply is one on standard output.
const { title } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const plain = title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
const slug = plain.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
process.stdout.write(JSON.stringify({ slug }) + "\n");
