"""The message types of the Cloud Quotas API."""

from local.cloud.messages import Messages

MESSAGES = Messages(
    packages={"v1": "cloudquotas_v1", "v1beta": "cloudquotas_v1beta"},
    modules={"QuotaInfo": "resources", "QuotaPreference": "resources"},
)
