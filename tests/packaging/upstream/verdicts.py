"""What becomes of each of Django's own tests. One that is not named here passes as it is."""

ADAPTED = {
    "DummyBackendTestCase.test_refresh_result": (
        "the original writes into the list that the dummy backend keeps; here a worker runs the job"
    ),
    "DummyBackendTestCase.test_refresh_result_async": (
        "the original writes into the list that the dummy backend keeps; here a worker runs the job"
    ),
    "ImmediateBackendTestCase.test_complex_return_value": (
        "the sentence in the traceback is that of Python's json: not JSON serializable"
    ),
}
NOT_APPLICABLE = {
    "ImmediateBackendTestCase.test_cannot_get_result": "our backend can get results",
    "ImmediateBackendTestCase.test_cannot_refresh_result": "our backend can refresh results",
    "ImmediateBackendTestCase.test_cannot_pass_run_after": "our backend has run_after",
}
