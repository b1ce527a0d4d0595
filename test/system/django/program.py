"""A project of Django that sends a code with the class of the guide, which is in `sms.py` beside it."""

import json

import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django_otp",
        "two_factor",
        "two_factor.plugins.phonenumber",
    ],
    TWO_FACTOR_SMS_GATEWAY="sms.Gateway",
)
django.setup()

from django_otp.oath import totp  # noqa: E402
from two_factor.plugins.phonenumber.models import PhoneDevice  # noqa: E402

from sms import client  # noqa: E402

device = PhoneDevice(number="+15005550007", key="00" * 20, method="sms")
device.generate_challenge()
(message,) = list(client.list_sms(search="15005550007"))
code = str(totp(device.bin_key)).zfill(6)
print(json.dumps([message["to"], code in message["message"]]))
