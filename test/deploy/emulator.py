"""Runs MiniStack with fixes for its differences from AWS, one at a time. It has the settings of the `ministack`
program, such as GATEWAY_PORT and AUTH. The fixes patch the version that requirements.txt names."""

import atexit
import copy
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

from ministack import app
from ministack.core import iam_actions, lambda_runtime, responses
from ministack.services import apigateway, dynamodb, lambda_svc, sts
from ministack.services.cloudformation import provisioners


# It unpacks functions into a folder of this run, outside of the project. With the project's package.json, Node would load
# their starter as an ES module.
tempfile.tempdir = tempfile.mkdtemp(prefix="sms-gateway-emulator-")
atexit.register(shutil.rmtree, tempfile.tempdir, True)


# The process that started it holds the other end of its input, and may be killed.
def end_with_starter():
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=end_with_starter, daemon=True).start()

# It handles /health itself, even if an API has such a path.
app._HEALTH_PATHS = ("/_ministack/health",)

# It serves plain HTTP on the loopback address, but policies such as that of the bucket of `cdk bootstrap` reject requests
# without TLS.
serve = app.app


async def serve_as_over_tls(scope, receive, send):
    if scope["type"] == "http":
        scope = {**scope, "headers": [*scope["headers"], (b"x-forwarded-proto", b"https")]}
    await serve(scope, receive, send)


app.app = serve_as_over_tls

# It handles OPTIONS for an API that has no CORS settings, where AWS uses the routes. It does not know methods in lower
# case.
execute = apigateway.handle_execute


async def execute_options(api_id, stage, path, method, *rest, **named):
    api = next((api for (_, _, name), api in apigateway._apis.all_items() if name == api_id), {})
    is_ours = method == "OPTIONS" and not api.get("corsConfiguration")
    return await execute(api_id, stage, path, method.lower() if is_ours else method, *rest, **named)


apigateway.handle_execute = execute_options

# Each concurrent call starts its own process, as it starts a machine in AWS. Two cores cannot start a
# hundred of them within the timeout of a function, so a call waits for one of a few.
lambda_runtime._LOCAL_MAX_WORKERS = 4
acquire_worker = lambda_runtime.acquire_worker


def wait_for_worker(*call, **named):
    while True:
        worker, reason = acquire_worker(*call, **named)
        if reason != "func_cap":
            return worker, reason
        time.sleep(0.01)


lambda_svc.acquire_worker = wait_for_worker

# A batch is allowed by the action of the single message; there is no sqs:SendMessageBatch in AWS.
name_action = iam_actions.extract_iam_action


def name_action_as_aws(*request):
    action = name_action(*request)
    return action.removesuffix("Batch") if action and action.startswith("sqs:") else action


iam_actions.extract_iam_action = name_action_as_aws

# It does not know the condition key dynamodb:LeadingKeys. The keys of all items of a request are checked together, the
# strictest reading of AWS's documentation.
name_context = iam_actions.dynamodb_service_context


def leading_keys(request):
    values = request.get("ExpressionAttributeValues", {})
    parts = [part for item in request.get("TransactItems", []) for part in item.values()] or [request]
    keys = [part.get("Key", part.get("Item", {})).get("pk") for part in parts] + [values.get(":pk")]
    keys += [key["pk"] for table in request.get("RequestItems", {}).values() for key in table.get("Keys", [])]
    return [key["S"] for key in keys if key]


def name_context_with_keys(body):
    keys = leading_keys(json.loads(body or b"{}"))
    return {**name_context(body), **({"dynamodb:LeadingKeys": keys} if keys else {})}


iam_actions.dynamodb_service_context = name_context_with_keys

# Two functions that start at the same time may conflict in the list of sessions, and then one of them fails.
session_lock = threading.Lock()
register_session = sts.register_session


def register_session_alone(*session):
    with session_lock:
        register_session(*session)


sts.register_session = register_session_alone

# Ref gives the name of a secret, where AWS gives its ARN.
resources = provisioners._RESOURCE_HANDLERS
secrets = resources["AWS::SecretsManager::Secret"]
create_secret, update_secret, delete_secret = secrets["create"], secrets["update"], secrets["delete"]


def name_of(arn):
    return arn.split(":secret:")[-1].rsplit("-", 1)[0]


def with_arn(handled):
    return handled[1]["Arn"], handled[1]


secrets["create"] = lambda *call: with_arn(create_secret(*call))
secrets["update"] = lambda arn, *call, **named: with_arn(update_secret(name_of(arn), *call, **named))
secrets["delete"] = lambda arn, props: delete_secret(name_of(arn), props)

# Its CloudFormation has no alarms on expressions. No test waits for one to fire, so such an alarm is put on the
# first metric of its expression.
record_alarm = provisioners._cw_metric_alarm_record


def record_alarm_on_metric(name, alarm):
    metrics = [part["MetricStat"]["Metric"] for part in alarm.get("Metrics", []) if "MetricStat" in part]
    return record_alarm(name, {**alarm, "Metrics": None, **metrics[0]} if metrics else alarm)


provisioners._cw_metric_alarm_record = record_alarm_on_metric

# Its CloudFormation ignores the expiry of a global table, all settings of its replica, and the status of its indexes. A table
# shares its indexes with the record of the stack. Changes of these look like changes of the template, and the next update
# replaces the table, so the stack keeps a copy.
tables = resources["AWS::DynamoDB::GlobalTable"]
create_table = tables["create"]


def create_whole_table(logical_id, table, stack):
    created = create_table(logical_id, copy.deepcopy(table), stack)
    name = created[0]
    replica = table["Replicas"][0]
    if "TimeToLiveSpecification" in table:
        dynamodb._update_ttl({**table, "TableName": name})
    dynamodb._update_continuous_backups({**replica, "TableName": name})
    stored = dynamodb._tables[name]
    stored["DeletionProtectionEnabled"] = replica["DeletionProtectionEnabled"]
    for index in stored["GlobalSecondaryIndexes"]:
        index["IndexStatus"] = "ACTIVE"
    return created


tables["create"] = create_whole_table

# It derives a generated name from the stack and the resource alone. The stack of the same stage in another region would get
# the roles of the first one, and a table of the same name. In AWS each of these names has an end of its own.
name_resource = provisioners._physical_name


def name_resource_of_region(*resource, **named):
    name = name_resource(*resource, **named)
    end = hashlib.sha256(f"{responses.get_region()}:{name}".encode()).hexdigest()[:13]
    return name[:-13] + (end if name.islower() else end.upper())


provisioners._physical_name = name_resource_of_region

# In an update of a nested stack it loses the attributes of unchanged resources.
attributes = {}
provision_resource, update_resource = provisioners._provision_resource, provisioners._update_resource


def provision_and_remember(kind, logical_id, properties, stack, *rest, **named):
    created = provision_resource(kind, logical_id, properties, stack, *rest, **named)
    attributes[stack, logical_id] = created[1]
    return created


def update_and_remember(kind, physical_id, old, new, stack, logical_id=None, old_attributes=None):
    known = old_attributes or attributes.get((stack, logical_id))
    updated = update_resource(kind, physical_id, old, new, stack, logical_id, known)
    attributes[stack, logical_id] = updated[1]
    return updated


provisioners._provision_resource = provision_and_remember
provisioners._update_resource = update_and_remember

# It knows neither gradual deployments, nor an alarm over others, nor a configuration set of AWS End User Messaging. Nothing here calls
# them, so a name is enough.
for kind in (
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup",
    "AWS::SMSVOICE::ConfigurationSet",
):
    resources[kind] = {
        "create": lambda logical_id, _, stack: (f"{stack}-{logical_id}", {}),
        "update": lambda name, *_, **__: (name, {}),
        "delete": lambda *_: None,
    }

app.main()
