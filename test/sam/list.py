"""Prints as JSON what SAM reads out of a template, with the modules that `sam local start-api` uses.

The arguments are the template and the file of `--env-vars`.
"""

import json
import os
import sys

from samcli.commands.local.lib.local_lambda import LocalLambdaRunner
from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

template, environment_file = sys.argv[1:]
stacks, _ = SamLocalStackProvider.get_stacks(template)
functions = SamFunctionProvider(stacks)
with open(environment_file, encoding="utf-8") as file:
    runner = LocalLambdaRunner(
        local_runtime=None,
        function_provider=functions,
        cwd=os.getcwd(),
        real_path=os.getcwd(),
        env_vars_values=json.load(file),
    )


def described(function):
    config = runner.get_invoke_config(function)
    return {
        "name": function.name,
        "runtime": config.runtime,
        "handler": config.handler,
        "folder": config.code_abs_path,
        "environment": config.env_vars.resolve(),
    }


json.dump(
    {
        "functions": [described(function) for function in functions.get_all()],
        "routes": [
            {"method": method, "path": route.path, "functionName": route.function_name}
            for route in ApiProvider(stacks).routes
            for method in route.methods
        ],
    },
    sys.stdout,
)
