CLUSTER=c
NAME=spot-l4
gcloud container node-pools create "$NAME" --cluster $CLUSTER \
  --spot --machine-type=g2-standard-8 \
  --node-taints=cloud.google.com/gke-spot=true:NoSchedule
