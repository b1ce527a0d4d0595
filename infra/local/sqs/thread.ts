import { parentPort, workerData } from "node:worker_threads";

import { SqsServer } from "./server.ts";

// The thread of the embedded SQS: it tells its address when it is there, and ends when it is told anything.

if (parentPort === null) throw new Error("this file runs in a worker thread");
const port = parentPort;

const { dataFolder }: { dataFolder: string | undefined } = workerData;
const sqs = await SqsServer.start(dataFolder);
port.once("message", () => void sqs.stop().then(() => port.close()));
port.postMessage(sqs.url);
