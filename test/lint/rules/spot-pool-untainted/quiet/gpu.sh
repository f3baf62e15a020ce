gcloud container node-pools create base --machine-type e2-standard-4
gcloud container node-pools create gpu --machine-type g2-standard-8 --spot
