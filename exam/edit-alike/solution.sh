sed -i '/name south;/{n;s/30/@NUMBER@/}' proxy.conf
