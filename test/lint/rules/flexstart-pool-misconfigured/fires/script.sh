gcloud container node-pools create flex --flex-start --num-nodes 2 --enable-autorepair # <- error
