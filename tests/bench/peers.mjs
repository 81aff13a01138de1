/* SPDX-License-Identifier: MIT
 *
 * peers.mjs - a producer and a worker of a queue of each peer, for
 * tests/bench/peers.sh. queue_bench.c says what the words are:
 *
 *     node peers.mjs PEER work PORT QUEUE HANDLERS COUNT
 *     node peers.mjs PEER put PORT QUEUE COUNT WAY
 *
 * Each peer is configured, as far as possible, to keep no finished job and to
 * publish no events. A peer here is
 *
 *   put(payload)             one job, until the server has it
 *   bulk(payloads)           many in one call
 *   work(handlers, handle, done)   handle at the beginning of each job, done
 *                            when the server has heard of its end */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [peer, role, port, queue, first, second] = process.argv.slice(2);
const require = createRequire(process.env.PEERS + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
/* A package that require cannot load. */
const loadModule = (path) =>
    import(pathToFileURL(process.env.PEERS + '/node_modules/' + path));
const connection = { host: '127.0.0.1', port: Number(port) };

const now = () => Number(process.hrtime.bigint() / 1000n);
const cpu = () => {
    const used = process.cpuUsage();
    return used.user + used.system;
};
const resident = () =>
    Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status'))[1]);

/* -------------------------------------------------------------------- peers */

async function bullmq() {
    const { Queue, Worker } = await load('bullmq');
    const options = { removeOnComplete: true, removeOnFail: true };
    let q;

    return {
        async producer() {
            q = new Queue(queue, { connection });
            await q.waitUntilReady();
        },
        put: (payload) => q.add('j', payload, options),
        bulk: (payloads) => q.addBulk(payloads.map(
            (data) => ({ name: 'j', data, opts: options }))),
        async work(handlers, handle, done) {
            const w = new Worker(queue, async (job) => handle(job.data),
                { connection, concurrency: handlers });
            w.on('completed', done);
            await w.waitUntilReady();
        },
    };
}

async function beeQueue() {
    const { default: Queue } = await load('bee-queue');
    const options = {
        redis: connection, removeOnSuccess: true, sendEvents: false,
        getEvents: false, storeJobs: false,
    };
    let q;

    return {
        async producer() {
            q = new Queue(queue, { ...options, isWorker: false });
            await q.ready();
        },
        put: (payload) => q.createJob(payload).save(),
        bulk: (payloads) => q.saveAll(payloads.map((p) => q.createJob(p))),
        async work(handlers, handle, done) {
            q = new Queue(queue, options);
            q.on('succeeded', done);
            await q.ready();
            q.process(handlers, async (job) => handle(job.data));
        },
    };
}

async function platformatic() {
    const { Queue, RedisStorage } =
        await loadModule('@platformatic/job-queue/dist/index.js');
    const storage = new RedisStorage({
        url: 'redis://127.0.0.1:' + port, keyPrefix: queue + ':',
    });
    const make = (concurrency) =>
        new Queue({ storage, concurrency, resultTTL: 1000 });
    let q, ids = 0;
    const put = (payload) => q.enqueue('job-' + ids++, payload);

    return {
        async producer() {
            q = make(1);
            await q.start();
        },
        put,
        bulk: (payloads) => Promise.all(payloads.map(put)), /* it has none */
        async work(handlers, handle, done) {
            q = make(handlers);
            q.execute(async (job) => { /* it wants a result */
                handle(job.payload);
                return null;
            });
            q.on('completed', done);
            await q.start();
        },
    };
}

async function boringnode() {
    const { Job, Locator, QueueManager, Worker, tracingChannels } =
        await loadModule('@boringnode/queue/build/index.js');
    const { redis } = await loadModule(
        '@boringnode/queue/build/src/drivers/redis_adapter.js');
    let handler = () => {};
    class Bench extends Job {
        static options = { queue };
        async execute() { handler(this.payload); }
    }
    Locator.register('Bench', Bench);
    const config = (concurrency) => ({
        default: 'redis', adapters: { redis: redis(connection) },
        worker: { concurrency },
    });

    return {
        producer: () => QueueManager.init(config(1)),
        put: (payload) => Bench.dispatch(payload).run(),
        bulk: (payloads) => Bench.dispatchMany(payloads).run(),
        async work(handlers, handle, done) {
            const w = new Worker(config(handlers));
            handler = handle;
            tracingChannels.executeChannel.subscribe({ asyncEnd: done });
            await w.init();
            w.start([queue]);
        },
    };
}

const peers = {
    'BullMQ': bullmq, 'bee-queue': beeQueue,
    '@platformatic/job-queue': platformatic, '@boringnode/queue': boringnode,
};

/* ------------------------------------------------------------------ produce */

let putNext = 0;
const payload = () =>
    `${String(putNext++).padStart(8)} ${String(now()).padStart(18)} `
        .padEnd(100, 'x');

async function lane(p, count) {
    while (putNext < count)
        await p.put(payload());
}

async function bulkLane(p, count) {
    while (putNext < count) {
        const n = Math.min(100, count - putNext);
        await p.bulk(Array.from({ length: n }, payload));
    }
}

/* Puts one job after the other, with so many ms between. */
async function slowLane(p, count, ms) {
    while (putNext < count) {
        await new Promise((go) => setTimeout(go, ms + Math.random() * 7));
        await p.put(payload());
    }
}

async function produce(p, count, way) {
    await p.producer();
    console.log('ready');
    await new Promise((go) => process.stdin.once('data', go));
    const begin = now(), used = cpu();
    if (way.startsWith('every'))
        await slowLane(p, count, Number(way.slice(5)));
    else if (way === 'bulk')
        await Promise.all(Array.from({ length: 8 }, () => bulkLane(p, count)));
    else
        await Promise.all(Array.from({ length: Number(way) },
            () => lane(p, count)));
    console.log(`begin=${begin} end=${now()} cpu=${cpu() - used} ` +
        `rss=${resident()}`);
}

/* --------------------------------------------------------------------- work */

async function work(p, handlers, count) {
    const came = new Uint8Array(count), late = [];
    let twice = 0, ended = 0, used = 0, began = 0;

    const handle = (text) => {
        const number = Number(text.slice(0, 8));
        if (text.length !== 100 || !(number < count))
            throw new Error('an odd payload: ' + text);
        used ||= cpu();
        began ||= now();
        late.push(now() - Number(text.slice(9, 27)));
        twice += came[number];
        came[number] = 1;
    };
    const over = () => {
        const end = now();
        late.sort((a, b) => a - b);
        console.log(`first=${began} end=${end} ` +
            `jobs=${late.length - twice} twice=${twice} ` +
            `cpu=${cpu() - used} rss=${resident()} ` +
            `p50=${late[count >> 1]} p99=${late[Math.ceil(count * .99) - 1]}`);
        process.exit(0);
    };

    await p.work(handlers, handle, () => {
        if (++ended === count)
            over();
    });
    setTimeout(() => console.log('ready'), 300); /* it has looked, and waits */
}

const p = await peers[peer]();
if (role === 'work') {
    await work(p, Number(first), Number(second));
} else {
    await produce(p, Number(first), second);
    process.exit(0);
}
