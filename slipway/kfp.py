"""The name for authors of Kubeflow pipelines: `from slipway.kfp import submit_op`."""

from slipway.front.api.submit_op import submit_op

__all__ = ["submit_op"]

if __name__ == "__main__":  # In the task that `submit_op` makes.
    from slipway.front.api.pipeline_task import run

    run()
