gcloud container node-pools create flex --flex-start --num-nodes 0 --enable-autoscaling --total-min-nodes 0 --total-max-nodes 5 --reservation-affinity none --no-enable-autorepair
