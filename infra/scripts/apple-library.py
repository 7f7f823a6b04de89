# apple-library.py FOLDER : how many transactions Apple's own library verifies a second, for `purser-drills bench`.
#
# FOLDER holds root.der, transactions (a JWS a line) and bundle-id. Prints the library's version and the rate. Offline
# (no OCSP), otherwise as it comes; one thread.
import pathlib
import sys
import time
from importlib.metadata import version

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

SECONDS = 0.6

folder = pathlib.Path(sys.argv[1])
transactions = (folder / "transactions").read_text().split()
bundle_id = (folder / "bundle-id").read_text()
verifier = SignedDataVerifier(
    root_certificates=[(folder / "root.der").read_bytes()],
    enable_online_checks=False,
    environment=Environment.PRODUCTION,
    bundle_id=bundle_id,
    app_apple_id=1234567890,
)


def verify(count):
    for number in range(count):
        transaction = verifier.verify_and_decode_signed_transaction(transactions[number % len(transactions)])
        assert transaction.bundleId == bundle_id


verify(20)
count, began = 0, time.perf_counter()
while time.perf_counter() - began < SECONDS:
    verify(10)
    count += 10
print(version("app-store-server-library"), count / (time.perf_counter() - began))
