// Claim and release per second with the original: node claims.js SECONDS CLAIMANTS CONNECTIONS
const { EventEmitter } = require('events');
const cueball = require('cueball');

const [seconds, claimants, connections] = process.argv.slice(2).map(Number);

class Connection extends EventEmitter {
  constructor() { super(); setImmediate(() => this.emit('connect')); }
  destroy() { setImmediate(() => this.emit('close')); }
  ref() {}
  unref() {}
}

const resolver = new cueball.StaticIpResolver({
  backends: [{ address: '127.0.0.1', port: 1 }],
});
const pool = new cueball.ConnectionPool({
  domain: 'bench',
  constructor: () => new Connection(),
  resolver,
  recovery: { default: { timeout: 1000, retries: 3, delay: 100 } },
  spares: claimants > 1 ? connections : 2,
  maximum: connections,
});
resolver.start();

let count = 0, began = 0, ending = false;
const waits = [];
function work() {
  const asked = process.hrtime.bigint();
  pool.claim((error, handle, connection) => {
    if (error) throw error;
    waits.push(Number(process.hrtime.bigint() - asked) / 1e6);
    if (waits.length > 200000) waits.splice(0, 100000);
    setImmediate(() => {
      handle.release();
      count += 1;
      if (!ending) work();
    });
  });
}
function simple() {
  pool.claim((error, handle, connection) => {
    if (error) throw error;
    handle.release();
    count += 1;
    if (!ending) simple();
  });
}
function warmUp(left, then) {
  pool.claim((error, handle) => {
    if (error) throw error;
    handle.release();
    if (left > 0) warmUp(left - 1, then); else then();
  });
}
setTimeout(() => warmUp(30000, () => {
  count = 0; began = process.hrtime.bigint(); waits.length = 0;
  const cpu = process.cpuUsage();
  for (let i = 0; i < claimants; i += 1) (claimants > 1 ? work : simple)();
  setTimeout(() => {
    ending = true;
    const took = Number(process.hrtime.bigint() - began) / 1e9;
    waits.sort((a, b) => a - b);
    const version = require('cueball/package.json').version;
    const p99 = waits.length ? waits[Math.floor(waits.length * 0.99)] : null;
    const used = process.cpuUsage(cpu);
    const perCpu = count / ((used.user + used.system) / 1e6);
    const rates = { per_second: count / took, per_cpu_second: perCpu };
    console.log(JSON.stringify({ version, ...rates, p99_ms: p99 }));
    process.exit(0);
  }, seconds * 1000);
}), 500);
