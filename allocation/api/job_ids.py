"""REST: make and read job ids. They are strings, because JavaScript cannot hold them as numbers."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.job_ids import ids
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked

MOST_IDS = 10_000


class WishSerializer(StrictSerializer):
    count = serializers.IntegerField(min_value=1, max_value=MOST_IDS, default=1)


class MadeSerializer(serializers.Serializer):
    job_ids = serializers.ListField(child=serializers.CharField())


class DecodedSerializer(serializers.Serializer):
    job_id = serializers.CharField()
    time = serializers.DateTimeField()
    worker_id = serializers.IntegerField()
    cluster_size = serializers.IntegerField()
    exact = serializers.BooleanField(help_text="False when the digits are no moment.")


class MakeIds(Endpoint):
    actions = {"POST": "job_id.make"}

    @extend_schema(request=WishSerializer, responses={201: MadeSerializer})
    def post(self, request: Request) -> Response:
        count = checked(WishSerializer, request.data)["count"]
        made = [ids.get_job_id()] if count == 1 else ids.get_job_ids(count)
        return Response({"job_ids": made}, status=201)


class DecodeId(Endpoint):
    actions = {"GET": "job_id.view"}

    @extend_schema(operation_id="job_ids_decode", responses=DecodedSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        """Time, worker number and cluster size."""
        parsed = ids.parse(job_id)
        facts = {name: getattr(parsed, name) for name in parsed.__slots__}
        return Response(DecodedSerializer({"job_id": job_id, **facts}).data)
