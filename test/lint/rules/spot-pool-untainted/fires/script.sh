gcloud container node-pools create base --machine-type e2-standard-4
gcloud container node-pools create cheap --machine-type e2-standard-8 --spot # <- warning
