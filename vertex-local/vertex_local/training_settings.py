"""Settings for the documents' open questions about training, and for the cloud's own delays."""

from collections.abc import Mapping
from dataclasses import dataclass

_LEAST_SPEED = 0.01
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "cluster_quota": ("reject", "error"),
    "patch_refusal": ("INVALID_ARGUMENT", "FAILED_PRECONDITION"),
    "full_pool": ("queue", "reject"),
    "job_service_account": ("reject", "accept"),
    "env_apostrophe": ("reject", "accept"),
    "env_blank": ("reject", "accept"),
    "machine_disk": ("reject", "accept"),
    "output_elsewhere": ("reject", "accept"),
    "output_missing": ("reject", "accept"),
    "metadata_short_id": ("reject", "accept"),
    "timeout_state": ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED"),
    "flex_expiry_state": ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED"),
    "spot_disable_retries": ("restart", "fail"),
    "spot_reservation": ("reject", "ignore"),
    "reservation_quota": ("on-demand", "none"),
    "calendar_reservations": ("consumable", "refused"),
    "image_builds": ("cold", "once"),
    "quota_ineligible": ("", "NO_VALID_BILLING_ACCOUNT", "NOT_SUPPORTED", "NOT_ENOUGH_USAGE_HISTORY", "OTHER"),
}


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of training. Delays are the cloud's own seconds, divided by `speed`; a person's never are."""

    # Divides every delay below.
    speed: float = 1.0
    # Persistent resources: how long they take to be made, rebooted, deleted.
    create_seconds: float = 0.0
    reboot_seconds: float = 0.0
    delete_seconds: float = 0.0
    # Machines of a job's own, beside persistent resources: how long they take to be made.
    machine_seconds: float = 0.0
    # Autoscaling: how long a pool takes to grow, how long it is idle before it shrinks, how long shrinking takes.
    scale_up_seconds: float = 0.0
    scale_idle_seconds: float = 300.0
    scale_down_seconds: float = 0.0
    # Creates of persistent resources whose id starts with this end in ERROR (none when empty).
    create_error: str = ""
    # The message of such a cluster; {region} is filled in.
    create_error_message: str = (
        "Resources are insufficient in region: {region}. Try a different region or use a different accelerator."
    )
    # Reboots of persistent resources whose id starts with this end in ERROR, as when capacity was lost.
    reboot_error: str = ""
    # A cluster beyond quota: `reject` answers 429 at create, `error` makes one that ends in ERROR.
    cluster_quota: str = "reject"
    # The code of a PATCH on a cluster that is not Ray: INVALID_ARGUMENT or FAILED_PRECONDITION.
    patch_refusal: str = "FAILED_PRECONDITION"
    # A job for a pool that is full: `queue` it or `reject` it with 429.
    full_pool: str = "queue"
    # A job that names a service account on a cluster without custom ones: `reject` or `accept`.
    job_service_account: str = "reject"
    # An environment variable with an apostrophe in its value, or without a value: `reject` or `accept`.
    env_apostrophe: str = "reject"
    env_blank: str = "reject"
    # A boot disk that Compute Engine does not give the machine: `reject` or `accept`.
    machine_disk: str = "reject"
    # A job whose output bucket is not in its region, or does not exist: `reject` or `accept`.
    output_elsewhere: str = "reject"
    output_missing: str = "reject"
    # The id of a context, an execution, an artifact or a metadata store of less than four characters.
    metadata_short_id: str = "reject"
    # The state a job has after its timeout: JOB_STATE_CANCELLED or JOB_STATE_FAILED.
    timeout_state: str = "JOB_STATE_CANCELLED"
    # Times a job is started again after an error that may pass (crash signals; lost machines).
    job_retries: int = 3
    # Times a worker is restarted in place, before the whole job is tried again.
    worker_restarts: int = 5
    # How long a worker that is restarted in place is away, as until a machine has taken the place of the lost one.
    worker_restart_seconds: float = 0.0
    # Exit codes that restart a worker, as a machine that went away does: ends by a signal from outside.
    worker_restart_codes: str = "129,130,143"
    # Stock-out of a job that does not wait in the flex-start queue: tries in all, and the time between two of them.
    stockout_tries: int = 3
    stockout_retry_seconds: float = 60.0
    # Spot: restarts after preemption, and how long after it, or after one that found no machines.
    spot_restarts: int = 6
    spot_restart_seconds: float = 60.0
    # Whether `disableRetries` keeps a Spot job from being restarted after preemption: `restart` or `fail`.
    spot_disable_retries: str = "restart"
    # The state of a flex-start job that waited in vain: JOB_STATE_FAILED or JOB_STATE_EXPIRED.
    flex_expiry_state: str = "JOB_STATE_FAILED"
    # A reservation affinity on a Spot job: `reject` it, or `ignore` it.
    spot_reservation: str = "reject"
    # What machines of a specific reservation draw: `on-demand` quota, or `none`.
    reservation_quota: str = "on-demand"
    # A job on a reservation in calendar mode, which has an end: it is `consumable`, or `refused`.
    calendar_reservations: str = "consumable"
    # Failed trials that end a tuning job which leaves their number to the service.
    failed_trials: int = 5
    # Images: `cold` builds one anew in each cluster's cache; `once` builds one for this machine, and caches link to it;
    # what a job brings is then installed once for all jobs of the next day.
    image_builds: str = "cold"
    # How long a replica may take to end after SIGTERM before it is killed.
    kill_grace_seconds: float = 5.0
    # Threads that numeric libraries of one replica may use; 0 shares the machine's cores among a job's replicas.
    replica_threads: int = 0
    # Cloud Quotas: how long a preference is being reconciled.
    quota_reconcile_seconds: float = 0.0
    # Cloud Quotas: the most that an increase is granted; -1 grants what is asked.
    quota_grant_ceiling: int = -1
    # Cloud Quotas: why increases are refused, as in NOT_ENOUGH_USAGE_HISTORY; empty when they are not.
    quota_ineligible: str = ""

    def __post_init__(self) -> None:
        if self.speed < _LEAST_SPEED:
            raise ValueError(f"'speed' is at least {_LEAST_SPEED:g}, not {self.speed}")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"'{name}' is one of {', '.join(filter(None, choices))}, not '{getattr(self, name)}'")

        try:
            self.restart_codes  # noqa: B018
        except ValueError as error:
            given = self.worker_restart_codes
            raise ValueError(f"'worker_restart_codes' is exit codes with commas between, not '{given}'") from error

    @property
    def restart_codes(self) -> frozenset[int]:
        """Return `worker_restart_codes` as numbers."""
        return frozenset(int(code) for code in self.worker_restart_codes.split(",") if code.strip())

    def delay(self, seconds: float) -> float:
        """Return a delay of the cloud's own, at this speed."""
        return seconds / self.speed
